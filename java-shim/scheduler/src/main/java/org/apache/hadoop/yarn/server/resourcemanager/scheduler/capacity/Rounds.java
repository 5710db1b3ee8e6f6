package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** The rounds of all threads, and the core's answers to them. */
final class Rounds {
  /** How many applications of a queue the core names in one round at most. */
  private static final int BEST_OF_QUEUE = 16;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final ElastaneMetrics metrics;
  private final IntSupplier queues;
  private final boolean virtualCoresCount;

  // Not static: a JVM may hold more than one scheduler.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Round> current = ThreadLocal.withInitial(Round::new);

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
      ElastaneMetrics metrics,
      IntSupplier queues,
      boolean virtualCoresCount) {
    this.core = core;
    this.nodes = nodes;
    this.applications = applications;
    this.metrics = metrics;
    this.queues = queues;
    this.virtualCoresCount = virtualCoresCount;
  }

  /** This thread's round, active or not. */
  Round current() {
    return current.get();
  }

  /** Marks a request that this thread's round led to, for the count when it is committed. */
  ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> markIfOrdered(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    FiCaSchedulerApp attempt =
        request
            .getFirstAllocatedOrReservedContainer()
            .getAllocatedOrReservedContainer()
            .getSchedulerApplicationAttempt();
    return current().wasOffered(attempt) ? new OrderedCommitRequest(request) : request;
  }

  /**
   * Asks the core which applications a node is offered to.
   *
   * @param best takes the answer by queue, the best application first
   * @return false when CapacityScheduler's order applies to this node
   */
  private boolean ask(FiCaSchedulerNode node, Map<QueueOrder, List<FiCaSchedulerApp>> best) {
    NodeRecord record = nodes.find(node.getNodeID());
    if (record == null) {
      return false;
    }
    NumberBuffer answer = answerBuffer();
    Resource free = Resources.add(node.getUnallocatedResource(), node.getTotalKillableResources());
    int freeVirtualCores = virtualCoresCount ? free.getVirtualCores() : Integer.MAX_VALUE;
    metrics.round();
    int written = core.round(record.number, free.getMemorySize(), freeVirtualCores, answer);
    for (int i = 0; i < written; i++) {
      ApplicationRecord application = applications.find(answer.get(i));
      ApplicationRecord.Entry entry = application == null ? null : application.entry();
      if (entry != null) {
        best.computeIfAbsent(entry.queue, any -> new ArrayList<>()).add(entry.attempt);
      }
    }
    // A raised node without an answer is about to return to its registered size, on another thread.
    // Until then nobody is offered the node: CapacityScheduler would fill its bookable capacity.
    return written >= 0 || record.isRaised();
  }

  private NumberBuffer answerBuffer() {
    int needed = BEST_OF_QUEUE * Math.max(1, queues.getAsInt());
    NumberBuffer buffer = answers.get();
    if (buffer == null || buffer.capacity() < needed) {
      // Queues are added one by one; twice the room saves a new buffer for each of them.
      buffer = new NumberBuffer(2 * needed);
      answers.set(buffer);
    }
    return buffer;
  }

  /**
   * One attempt of one thread to place a container on a node. The core is asked once, when the
   * first leaf queue needs its order.
   */
  final class Round {
    private final Map<QueueOrder, List<FiCaSchedulerApp>> best = new HashMap<>();
    private FiCaSchedulerNode node;
    private Answer answer = Answer.NOT_ASKED;
    private boolean refused;

    private Round() {}

    void begin(FiCaSchedulerNode nodeToFill) {
      node = nodeToFill;
      answer = Answer.NOT_ASKED;
      refused = false;
    }

    void end() {
      node = null;
      if (answer == Answer.CORE) {
        best.clear();
      }
    }

    boolean isActive() {
      return node != null;
    }

    /** The core refused a commit of this round; another attempt would end in the same way. */
    void refuse() {
      refused = true;
    }

    boolean isRefused() {
      return refused;
    }

    /**
     * The applications of a queue that the core offers this node to, the best first; null for the
     * base order.
     */
    List<FiCaSchedulerApp> best(QueueOrder queue) {
      if (answer == Answer.NOT_ASKED) {
        // Set first: a core that fails here is not asked again.
        answer = Answer.CAPACITY_SCHEDULER;
        answer = ask(node, best) ? Answer.CORE : Answer.CAPACITY_SCHEDULER;
      }
      if (answer == Answer.CAPACITY_SCHEDULER) {
        return null;
      }
      return best.getOrDefault(queue, Collections.emptyList());
    }

    private boolean wasOffered(FiCaSchedulerApp attempt) {
      return isActive()
          && answer == Answer.CORE
          && best.values().stream().anyMatch(offered -> offered.contains(attempt));
    }
  }

  private enum Answer {
    NOT_ASKED,
    CORE,
    CAPACITY_SCHEDULER
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
