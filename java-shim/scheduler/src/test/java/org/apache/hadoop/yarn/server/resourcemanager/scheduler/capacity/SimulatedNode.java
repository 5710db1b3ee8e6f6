package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.server.api.protocolrecords.NMContainerStatus;
import org.apache.hadoop.yarn.server.api.protocolrecords.NodeHeartbeatResponse;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.utils.BuilderUtils;

/** A NodeManager: starts what it is given, ends what it is told to, may be lost and may return. */
final class SimulatedNode {
  /**
   * By all that an application or a node can tell containers apart by, and by id only among those
   * that are alike: after a rejected proposal Elastane gives the ids out in another order.
   */
  static final Comparator<RMContainer> ORDER =
      Comparator.comparing(RMContainer::getApplicationAttemptId)
          .thenComparing(SimulatedNode::describe)
          .thenComparing(RMContainer::getContainerId);

  private final String name;
  private final int memoryMib;
  private final int virtualCores;
  private final Set<ContainerId> running = new TreeSet<>();
  private final Set<ContainerId> ending = new TreeSet<>();
  private MockNM nodeManager;
  private boolean lost;

  /** Whether its agent sends no reports. */
  boolean silent;

  SimulatedNode(String name, int memoryMib, int virtualCores) {
    this.name = name;
    this.memoryMib = memoryMib;
    this.virtualCores = virtualCores;
  }

  void register(TestCluster cluster) throws Exception {
    running.clear();
    ending.clear();
    lost = false;
    nodeManager =
        new MockNM(
            name, memoryMib, virtualCores, cluster.resourceManager().getResourceTrackerService());
    nodeManager.registerNode();
    cluster.resourceManager().drainEvents();
  }

  /** Registers with the next ResourceManager, with the containers that the former one knew. */
  void register(TestCluster next, CapacityScheduler former) throws Exception {
    List<NMContainerStatus> statuses = new ArrayList<>();
    Set<ApplicationId> applications = new TreeSet<>();
    for (RMContainer container : containers(former)) {
      if (running.contains(container.getContainerId())) {
        statuses.add(status(container));
        applications.add(container.getApplicationAttemptId().getApplicationId());
      }
    }
    running.retainAll(ids(statuses));
    ending.retainAll(running);
    nodeManager.setResourceTrackerService(next.resourceManager().getResourceTrackerService());
    nodeManager.registerNode(statuses, new ArrayList<>(applications));
    next.resourceManager().drainEvents();
  }

  /** Some of the containers that their ApplicationMasters received start, and others end. */
  void heartbeat(TestCluster cluster, Random random) throws Exception {
    List<ContainerStatus> statuses = new ArrayList<>();
    for (RMContainer container : containers(cluster.capacityScheduler())) {
      ContainerId id = container.getContainerId();
      if (container.getState() == RMContainerState.ACQUIRED
          && !running.contains(id)
          && random.nextInt(4) > 0) {
        running.add(id);
        statuses.add(status(container.getContainer(), ContainerState.RUNNING));
      }
    }
    for (ContainerId id : ending) {
      running.remove(id);
      statuses.add(BuilderUtils.newContainerStatus(id, ContainerState.COMPLETE, "", 0, null));
    }
    ending.clear();
    NodeHeartbeatResponse response = nodeManager.nodeHeartbeat(statuses, true);
    ending.addAll(response.getContainersToCleanup());
    for (ContainerId id : running) {
      if (response
          .getApplicationsToCleanup()
          .contains(id.getApplicationAttemptId().getApplicationId())) {
        ending.add(id);
      }
    }
    cluster.resourceManager().drainEvents();
  }

  /** The container ends; the next heartbeat says so. */
  private void end(ContainerId container) {
    ending.add(container);
  }

  /** The container ends on its node. */
  static void end(List<SimulatedNode> nodes, Container container) {
    for (SimulatedNode node : nodes) {
      if (!node.isLost() && node.nodeManager().getNodeId().equals(container.getNodeId())) {
        node.end(container.getId());
      }
    }
  }

  void lose(TestCluster cluster) throws Exception {
    lost = true;
    cluster.resourceManager().sendNodeEvent(nodeManager, RMNodeEventType.EXPIRE);
    cluster.resourceManager().drainEvents();
  }

  boolean runs(ContainerId container) {
    return !lost && running.contains(container);
  }

  boolean isLost() {
    return lost;
  }

  MockNM nodeManager() {
    return nodeManager;
  }

  int memoryMib() {
    return memoryMib;
  }

  int virtualCores() {
    return virtualCores;
  }

  @Override
  public String toString() {
    return name;
  }

  /** What the scheduler has on this node, by id. */
  private List<RMContainer> containers(CapacityScheduler scheduler) {
    FiCaSchedulerNode node = scheduler.getNode(nodeManager.getNodeId());
    if (node == null) {
      return Collections.emptyList();
    }
    List<RMContainer> containers = node.getCopiedListOfRunningContainers();
    containers.sort(ORDER);
    return containers;
  }

  /** A container but for its id. */
  static String describe(RMContainer container) {
    return String.format(
        "%s of %s on %s, %s, %s",
        container.getContainer().getResource(),
        container.getContainer().getPriority(),
        container.getContainer().getNodeId(),
        container.getExecutionType(),
        container.getState());
  }

  private static Set<ContainerId> ids(List<NMContainerStatus> statuses) {
    TreeMap<ContainerId, NMContainerStatus> byId = new TreeMap<>();
    statuses.forEach(status -> byId.put(status.getContainerId(), status));
    return byId.keySet();
  }

  private static ContainerStatus status(Container container, ContainerState state) {
    return BuilderUtils.newContainerStatus(
        container.getId(), state, "", 0, container.getResource());
  }

  private static NMContainerStatus status(RMContainer running) {
    Container container = running.getContainer();
    return NMContainerStatus.newInstance(
        container.getId(),
        container.getVersion(),
        ContainerState.RUNNING,
        container.getResource(),
        "",
        0,
        container.getPriority(),
        running.getCreationTime(),
        null,
        container.getExecutionType(),
        container.getAllocationRequestId());
  }
}
