package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.SchedulerContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.apache.hadoop.yarn.util.resource.Resources;

/** Tells the core which containers are about to be committed, run, or have ended. */
final class CoreContainers {
  private static final Set<RMContainerState> ENDED =
      EnumSet.of(
          RMContainerState.COMPLETED,
          RMContainerState.EXPIRED,
          RMContainerState.RELEASED,
          RMContainerState.KILLED);

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final Predicate<FiCaSchedulerApp> ordered;
  private final Enforcement enforcement;

  /**
   * @param ordered whether the core orders the attempt's queue
   */
  CoreContainers(
      CoreHandle core,
      CoreNodes nodes,
      CoreApplications applications,
      Predicate<FiCaSchedulerApp> ordered,
      Enforcement enforcement) {
    this.core = core;
    this.nodes = nodes;
    this.applications = applications;
    this.ordered = ordered;
    this.enforcement = enforcement;
  }

  /**
   * Announces the containers that a request would allocate. The core is not told of reservations
   * and releases, which book nothing.
   *
   * @param coreNumber which core is told
   */
  Commit announce(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request, int coreNumber) {
    if (request.getContainersToAllocate().isEmpty()) {
      return Commit.OF_NOTHING;
    }
    Commit commit = new Commit();
    commit.coreNumber = coreNumber;
    for (ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal :
        request.getContainersToAllocate()) {
      if (!announce(proposal, commit)) {
        takeBack(commit);
        commit.refused = true;
        SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> reserved =
            proposal.getAllocateFromReservedContainer();
        commit.refusedReservation = reserved == null ? null : reserved.getRmContainer();
        break;
      }
    }
    return commit;
  }

  private boolean announce(
      ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal, Commit commit) {
    SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> proposed =
        proposal.getAllocatedOrReservedContainer();
    FiCaSchedulerApp attempt = proposed.getSchedulerApplicationAttempt();
    commit.attempt = attempt;
    ApplicationRecord application = applications.find(attempt.getApplicationId());
    NodeRecord node = nodes.find(proposed.getSchedulerNode().getNodeID());
    if (application == null || node == null || isOutdated(proposal)) {
      return true;
    }
    RMContainer rmContainer = proposed.getRmContainer();
    if (rmContainer.getContainerId() == null) {
      // CapacityScheduler assigns the id only when it accepts the proposal.
      rmContainer.setContainerId(application.takeContainerId(attempt));
      commit.named.add(rmContainer);
    }
    Booked container =
        new Booked(
            rmContainer.getContainerId(),
            application.number,
            node.number,
            attempt.isWaitingForAMContainer(),
            proposed.getSchedulerRequestKey(),
            proposal.getAllocatedOrReservedResource());
    // On a node of its registered size, CapacityScheduler decides alone about queues that the core
    // does not order: a refusal would come back with every heartbeat, and block the others.
    boolean mayRefuse =
        enforcement.isOn()
            && (node.isRaised() || ordered.test(attempt))
            && !takesPlaceOfKilled(proposal, node);
    boolean accepted = core.commit(container, mayRefuse);
    if (accepted) {
      commit.told.add(container.id);
    }
    return accepted;
  }

  /**
   * Whether CapacityScheduler kills containers on this node to make room (lazy preemption), and not
   * less than the new one takes or on a node of its registered size. They are in the core's plan
   * until they end, so that the core would refuse what takes their place.
   */
  private static boolean takesPlaceOfKilled(
      ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal, NodeRecord node) {
    Resource killed = Resource.newInstance(0, 0);
    for (SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> released :
        proposal.getToRelease()) {
      RMContainer container = released.getRmContainer();
      boolean isThere = node.rmNode.getNodeID().equals(container.getAllocatedNode());
      if (isThere && container.getState() != RMContainerState.RESERVED) {
        Resources.addTo(killed, container.getAllocatedResource());
      }
    }
    return !Resources.isNone(killed)
        && (!node.isRaised()
            || Resources.fitsIn(proposal.getAllocatedOrReservedResource(), killed));
  }

  /**
   * Whether the reservation that the container would use was used or released since the proposal.
   * CapacityScheduler rejects such a proposal. Announcing the container and its end would make the
   * core forget the running container of the same id.
   */
  private static boolean isOutdated(
      ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal) {
    SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> reserved =
        proposal.getAllocateFromReservedContainer();
    return reserved != null
        && reserved.getSchedulerNode().getReservedContainer() != reserved.getRmContainer();
  }

  /** The request was not committed: the core forgets its containers. */
  void takeBack(Commit commit) {
    for (ContainerId container : commit.told) {
      core.finished(container);
    }
    for (RMContainer container : commit.named) {
      ContainerId id = container.getContainerId();
      ApplicationRecord application =
          applications.find(id.getApplicationAttemptId().getApplicationId());
      if (application != null) {
        application.giveBackContainerId(id);
      }
    }
  }

  /**
   * A new core is told what was committed while it was being told of all containers. The asks are
   * read again on the next event.
   */
  void committed(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    for (ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal :
        request.getContainersToAllocate()) {
      SchedulerContainer<FiCaSchedulerApp, FiCaSchedulerNode> proposed =
          proposal.getAllocatedOrReservedContainer();
      NodeRecord node = nodes.find(proposed.getSchedulerNode().getNodeID());
      if (node != null) {
        RMContainer container = proposed.getRmContainer();
        runs(container, node, proposal.getAllocatedOrReservedResource());
        if (hasEnded(container)) {
          // It ended before the core knew it.
          finished(container);
        }
        applications.asksAreRestored(proposed.getSchedulerApplicationAttempt());
      }
    }
  }

  /** Tells the core which containers on a registered node are older than this ResourceManager. */
  void recovered(NodeRecord node, FiCaSchedulerNode schedulerNode) {
    for (RMContainer running : bookedOn(schedulerNode)) {
      runs(running, node, running.getAllocatedResource());
    }
  }

  /**
   * The containers that run on a node, as the core is to book them. Opportunistic ones only queue
   * there. CapacityScheduler also keeps ended ones until the NodeManager has seen them end.
   */
  static List<RMContainer> bookedOn(FiCaSchedulerNode node) {
    List<RMContainer> booked = new ArrayList<>();
    for (RMContainer running : node.getCopiedListOfRunningContainers()) {
      if (running.getExecutionType() == ExecutionType.GUARANTEED && !hasEnded(running)) {
        booked.add(running);
      }
    }
    return booked;
  }

  /** A container was found to be booked otherwise than it runs. */
  void mend(ContainerId id, RMContainer running, NodeRecord node) {
    core.finished(id);
    if (running != null) {
      runs(running, node, running.getAllocatedResource());
    }
  }

  /**
   * Whether a container ended. A SchedulerNode keeps a released one until the NodeManager reports
   * its end, of which nobody is told any more.
   */
  static boolean hasEnded(RMContainer container) {
    return ENDED.contains(container.getState());
  }

  /** Running containers were resized, promoted or demoted; the ApplicationMaster is told now. */
  void updated(Allocation told, Function<ContainerId, RMContainer> running) {
    updated(told.getIncreasedContainers(), running);
    updated(told.getDecreasedContainers(), running);
    updated(told.getPromotedContainers(), running);
    updated(told.getDemotedContainers(), running);
  }

  /**
   * The core books each again under the same id, unless it is opportunistic: CapacityScheduler
   * books nothing for such a container, and neither does the core.
   */
  private void updated(List<Container> updated, Function<ContainerId, RMContainer> running) {
    if (updated == null) {
      return;
    }
    for (Container now : updated) {
      RMContainer container = running.apply(now.getId());
      NodeRecord node = nodes.find(now.getNodeId());
      if (container != null && node != null) {
        core.finished(now.getId());
        if (now.getExecutionType() == ExecutionType.GUARANTEED) {
          runs(container, node, now.getResource());
        }
      }
    }
  }

  void finished(RMContainer container) {
    if (container.getContainerId() != null) {
      core.finished(container.getContainerId());
    }
  }

  private void runs(RMContainer running, NodeRecord node, Resource size) {
    ApplicationRecord application =
        applications.find(running.getApplicationAttemptId().getApplicationId());
    if (application != null) {
      core.runs(
          new Booked(
              running.getContainerId(),
              application.number,
              node.number,
              running.isAMContainer(),
              running.getAllocatedSchedulerKey(),
              size),
          running.getCreationTime());
    }
  }

  /** A container as the core books it. */
  static final class Booked {
    final ContainerId id;
    final int application;
    final int node;
    final boolean applicationMaster;

    /** The priority of the request that the container was allocated for. */
    final int requestPriority;

    final Resource size;

    private Booked(
        ContainerId id,
        int application,
        int node,
        boolean applicationMaster,
        SchedulerRequestKey request,
        Resource size) {
      this.id = id;
      this.application = application;
      this.node = node;
      this.applicationMaster = applicationMaster;
      requestPriority = request.getPriority().getPriority();
      this.size = size;
    }
  }

  /** The containers of one commit request that the core was told of. */
  static final class Commit {
    private static final int NO_CORE = -1;

    /** For a request without containers, or a core out of service. */
    static final Commit OF_NOTHING = new Commit(Collections.emptyList(), Collections.emptyList());

    private final List<ContainerId> told;
    private final List<RMContainer> named;
    private FiCaSchedulerApp attempt;
    private boolean refused;
    private int coreNumber = NO_CORE;
    private RMContainer refusedReservation;

    private Commit() {
      this(new ArrayList<>(1), new ArrayList<>(1));
    }

    private Commit(List<ContainerId> told, List<RMContainer> named) {
      this.told = told;
      this.named = named;
    }

    /** Whether this core was told. */
    boolean isKnownTo(int core) {
      return coreNumber == core;
    }

    /** The attempt that the containers are for; null when there are none. */
    FiCaSchedulerApp attempt() {
      return attempt;
    }

    boolean isRefused() {
      return refused;
    }

    /** The reserved container that was refused; null if there is none. */
    RMContainer refusedReservation() {
      return refusedReservation;
    }
  }
}
