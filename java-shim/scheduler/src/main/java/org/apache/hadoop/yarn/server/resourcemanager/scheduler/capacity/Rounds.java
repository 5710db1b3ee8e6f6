package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collections;
import java.util.function.IntSupplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.elastane.conf.PlacementOrder;
import org.elastane.natives.Natives;

/** The rounds of all threads, and the core's answers to them. */
final class Rounds {
  /** How many applications of a queue the core names in one round at most. */
  static final int BEST_OF_QUEUE = 16;

  static final int[] NOBODY = new int[0];

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final ElastaneMetrics metrics;
  private final UsersAtLimit usersAtLimit;
  private final IntSupplier queues;
  private final boolean virtualCoresCount;
  private volatile PlacementOrder order = PlacementOrder.ELASTANE;
  private volatile QueueModes modes = new QueueModes(Collections.emptyMap());

  // Not static: a JVM may hold more than one scheduler.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Round> current = ThreadLocal.withInitial(this::newRound);

  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<NumberBuffer> answers = new ThreadLocal<>();

  /**
   * @param queues how many queues have one of Elastane's ordering policies
   * @param virtualCoresCount whether CapacityScheduler books virtual cores, or memory alone
   */
  Rounds(
      CoreHandle core,
      CoreNodes nodes,
      CoreApplications applications,
      UsersAtLimit usersAtLimit,
      ElastaneMetrics metrics,
      IntSupplier queues,
      boolean virtualCoresCount) {
    this.core = core;
    this.nodes = nodes;
    this.applications = applications;
    this.usersAtLimit = usersAtLimit;
    this.metrics = metrics;
    this.queues = queues;
    this.virtualCoresCount = virtualCoresCount;
  }

  void setOrder(PlacementOrder placementOrder, QueueModes queueModes) {
    order = placementOrder;
    modes = queueModes;
  }

  /** This thread's round, active or not. */
  Round current() {
    return current.get();
  }

  /** Begins this thread's round; see {@link Round#begin}. */
  Round begin(FiCaSchedulerNode nodeToFill, boolean withinHeartbeat) {
    Round round = current();
    round.begin(nodeToFill, withinHeartbeat);
    return round;
  }

  /** Marks a request that this thread's round led to, for the count when it is committed. */
  ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> markIfOrdered(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    FiCaSchedulerApp attempt =
        request
            .getFirstAllocatedOrReservedContainer()
            .getAllocatedOrReservedContainer()
            .getSchedulerApplicationAttempt();
    ApplicationRecord application = applications.find(attempt.getApplicationId());
    boolean ordered =
        application != null && application.pendingKnown() && current().wasOffered(attempt);
    return ordered ? new OrderedCommitRequest(request) : request;
  }

  private Round newRound() {
    return new Round(this, nodes, applications);
  }

  /** Whether a queue keeps its own order among the applications that fit. */
  boolean keepsBaseOrder(String queuePath) {
    return order == PlacementOrder.QUEUE || modes.observes(queuePath);
  }

  /**
   * Asks the core which applications a node is offered to.
   *
   * @param named {@link Natives#NAME_BEST}, {@link Natives#NAME_REST} or {@link
   *     Natives#NAME_FITTING}
   * @return their numbers; null when CapacityScheduler's order applies to this node
   */
  int[] ask(FiCaSchedulerNode node, int named) {
    NodeRecord record = nodes.find(node.getNodeID());
    if (record == null) {
      return null;
    }
    Resource free = free(node);
    int freeVirtualCores = virtualCoresCount ? free.getVirtualCores() : Integer.MAX_VALUE;
    long[] freeCountables = PendingAsks.countablesOf(free);
    NumberBuffer answer;
    int count = BEST_OF_QUEUE * Math.max(1, queues.getAsInt());
    long beginNs = System.nanoTime();
    int[] atUserLimit = usersCount(node) ? usersAtLimit.numbers() : null;
    do {
      answer = answerBuffer(count);
      count =
          core.round(
              record.number,
              free.getMemorySize(),
              freeVirtualCores,
              freeCountables,
              atUserLimit,
              named,
              answer);
    } while (count > answer.capacity());
    metrics.round(System.nanoTime() - beginNs);
    if (count < 0) {
      metrics.roundLeft();
      // A raised node without an answer is about to return to its registered size, on another
      // thread. Until then nobody is offered the node: CapacityScheduler would fill its bookable
      // capacity.
      return record.isRaised() ? NOBODY : null;
    }
    return answer.toArray(count);
  }

  /** Whether CapacityScheduler gives the user of an attempt nothing more on nodes like this. */
  boolean isUserAtLimit(FiCaSchedulerNode node, QueueOrder queue, FiCaSchedulerApp attempt) {
    return usersCount(node) && usersAtLimit.isAtLimit(queue, attempt);
  }

  /** An attempt has left its queue. */
  void left(QueueOrder queue, FiCaSchedulerApp attempt) {
    usersAtLimit.left(queue, attempt);
  }

  /** On a node with a label, users' limits count in one of CapacityScheduler's two walks only. */
  private static boolean usersCount(FiCaSchedulerNode node) {
    return RMNodeLabelsManager.NO_LABEL.equals(node.getPartition());
  }

  /** CapacityScheduler skipped applications that the core had named for a node. */
  void namedInVain(NodeRecord node, int[] applicationNumbers) {
    metrics.namedInVain(applicationNumbers.length);
    core.skipped(node.number, applicationNumbers);
  }

  /** What CapacityScheduler can still book on a node, by killing what it has marked. */
  Resource free(FiCaSchedulerNode node) {
    return Resources.add(node.getUnallocatedResource(), node.getTotalKillableResources());
  }

  private NumberBuffer answerBuffer(int needed) {
    NumberBuffer buffer = answers.get();
    if (buffer == null || buffer.capacity() < needed) {
      // Queues and applications are added one by one; twice the room saves a new buffer for each.
      buffer = new NumberBuffer(2 * needed);
      answers.set(buffer);
    }
    return buffer;
  }

  /**
   * A request for a container that the core's order led to. With asynchronous scheduling another
   * thread commits the request, so the request itself carries the mark.
   */
  static final class OrderedCommitRequest
      extends ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> {
    private OrderedCommitRequest(
        ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
      super(
          request.getContainersToAllocate(),
          request.getContainersToReserve(),
          request.getContainersToRelease());
    }
  }
}
