package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.exceptions.InvalidResourceRequestException;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** What an ApplicationMaster does: it asks, releases, loses and updates containers. */
final class MasterOperations {
  /** The sizes that ApplicationMasters ask for, each with one or two virtual cores. */
  static final int[] SIZES_MIB = {256, 512, 1024, 1024, 1024, 2048, 3072, 6144};

  private final Random random;
  private final List<SimulatedNode> nodes;

  MasterOperations(Random random, List<SimulatedNode> nodes) {
    this.random = random;
    this.nodes = nodes;
  }

  String operate(CapacityScheduler scheduler, MockAM master, int drawn) throws Exception {
    if (drawn < 720) {
      return ask(master);
    } else if (drawn < 790) {
      master.allocate(Collections.emptyList(), Collections.emptyList());
      return "heartbeat";
    } else if (drawn < 860) {
      return release(master, executors(scheduler, master));
    } else if (drawn < 940) {
      return end(executors(scheduler, master));
    }
    return update(master, executors(scheduler, master), drawn % 4);
  }

  private String ask(MockAM master) throws Exception {
    int size = SIZES_MIB[random.nextInt(SIZES_MIB.length)];
    int cores = 1 + random.nextInt(2);
    int count = random.nextInt(10);
    Priority priority = Priority.newInstance(priority(size, cores));
    List<ResourceRequest> asks = new ArrayList<>();
    if (random.nextInt(5) == 0) {
      String node = any(nodes).nodeManager().getNodeId().getHost();
      for (String place : Arrays.asList(node, NetworkTopology.DEFAULT_RACK)) {
        asks.add(
            ResourceRequest.newInstance(priority, place, Resource.newInstance(size, cores), count));
      }
    }
    asks.add(
        ResourceRequest.newInstance(
            priority, ResourceRequest.ANY, Resource.newInstance(size, cores), count));
    try {
      master.allocate(asks, Collections.emptyList());
    } catch (InvalidResourceRequestException e) {
      return "asks for more than a node has: " + size;
    }
    return "asks for " + count + " of " + size + " MiB and " + cores;
  }

  /** One size for each priority, as YARN wants it. */
  static int priority(int memoryMib, int virtualCores) {
    return memoryMib / 256 * 2 + virtualCores;
  }

  /** The size that is asked for with this priority. */
  static long sizeMib(int priority) {
    return (priority - 1) / 2 * 256L;
  }

  private String release(MockAM master, List<RMContainer> executors) throws Exception {
    Collections.shuffle(executors, random);
    List<RMContainer> chosen =
        executors.subList(0, Math.min(executors.size(), 1 + random.nextInt(3)));
    String released =
        chosen.stream().map(SimulatedNode::describe).collect(Collectors.joining("; "));
    master.allocate(
        Collections.emptyList(),
        chosen.stream().map(RMContainer::getContainerId).collect(Collectors.toList()));
    return "releases " + released;
  }

  private String end(List<RMContainer> executors) {
    executors.removeIf(executor -> executor.getState() != RMContainerState.RUNNING);
    if (executors.isEmpty()) {
      return "has nothing that ends";
    }
    RMContainer ended = any(executors);
    SimulatedNode.end(nodes, ended.getContainer());
    return "loses " + SimulatedNode.describe(ended);
  }

  private String update(MockAM master, List<RMContainer> executors, int kind) throws Exception {
    executors.removeIf(executor -> executor.getState() != RMContainerState.RUNNING);
    if (executors.isEmpty()) {
      return "has nothing to update";
    }
    RMContainer chosen = any(executors);
    Container container = chosen.getContainer();
    String described = SimulatedNode.describe(chosen);
    Resource size = container.getResource();
    boolean guaranteed = container.getExecutionType() == ExecutionType.GUARANTEED;
    ContainerUpdateType type;
    Resource target = null;
    ExecutionType execution = null;
    if (!guaranteed) {
      type = ContainerUpdateType.PROMOTE_EXECUTION_TYPE;
      execution = ExecutionType.GUARANTEED;
    } else if (kind == 0) {
      type = ContainerUpdateType.DEMOTE_EXECUTION_TYPE;
      execution = ExecutionType.OPPORTUNISTIC;
    } else if (kind == 1 && size.getMemorySize() > 512) {
      type = ContainerUpdateType.DECREASE_RESOURCE;
      target = Resource.newInstance(size.getMemorySize() - 256, size.getVirtualCores());
    } else {
      type = ContainerUpdateType.INCREASE_RESOURCE;
      target =
          Resource.newInstance(
              size.getMemorySize() + 256L * (1 + random.nextInt(4)), size.getVirtualCores());
    }
    master.sendContainerUpdateRequest(
        Collections.singletonList(
            UpdateContainerRequest.newInstance(
                container.getVersion(), container.getId(), type, target, execution)));
    return type + " " + described + " to " + target;
  }

  /** The containers that an ApplicationMaster received. */
  private static List<RMContainer> executors(CapacityScheduler scheduler, MockAM master) {
    FiCaSchedulerApp attempt = scheduler.getApplicationAttempt(master.getApplicationAttemptId());
    if (attempt == null) {
      return new ArrayList<>();
    }
    Collection<RMContainer> live = attempt.getLiveContainers();
    return live.stream()
        .filter(container -> !container.isAMContainer())
        .filter(
            container ->
                container.getState() == RMContainerState.ACQUIRED
                    || container.getState() == RMContainerState.RUNNING)
        .sorted(SimulatedNode.ORDER)
        .collect(Collectors.toCollection(ArrayList::new));
  }

  private <T> T any(List<T> among) {
    return among.get(random.nextInt(among.size()));
  }
}
