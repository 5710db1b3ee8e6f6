package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** The rounds of all threads, and the core's answers to them. */
final class Rounds {
  /** As many applications of a queue as the core names in one round. */
  private static final int BEST_OF_QUEUE = 16;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final ElastaneMetrics metrics;
  private final IntSupplier queues;
  private final boolean virtualCoresCount;

  // Not static: a JVM may hold more than one scheduler.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Round> current = ThreadLocal.withInitial(() -> new Round(this));

  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<NumberBuffer> answers = new ThreadLocal<>();

  /**
   * @param queues how many queues take part
   * @param virtualCoresCount whether CapacityScheduler counts virtual cores at all
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

  /**
   * Asks the core for a node's applications.
   *
   * @param best takes them by queue, the best first
   * @return false when CapacityScheduler's order stands on this node
   */
  boolean ask(FiCaSchedulerNode node, Map<QueueOrder, List<FiCaSchedulerApp>> best) {
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
        Round.put(best, entry.queue, entry.attempt);
      }
    }
    // The core has named the node to go back to its registered size, and another thread is at it:
    // until then it is offered to nobody, since CapacityScheduler would fill what is only bookable.
    return written >= 0 || record.isRaised();
  }

  private NumberBuffer answerBuffer() {
    int needed = BEST_OF_QUEUE * Math.max(1, queues.getAsInt());
    NumberBuffer buffer = answers.get();
    if (buffer == null || buffer.capacity() < needed) {
      // Queues come one by one; room for as many again spares a buffer for each of them.
      buffer = new NumberBuffer(2 * needed);
      answers.set(buffer);
    }
    return buffer;
  }
}
