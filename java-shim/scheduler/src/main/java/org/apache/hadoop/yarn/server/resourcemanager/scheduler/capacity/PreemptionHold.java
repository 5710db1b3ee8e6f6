package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.function.Supplier;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds back preemption that CapacityScheduler's monitor orders only because nodes shrank: for
 * containers on the nodes of the same label, for five minutes. The core knows when; of nodes that
 * were lowered without a core, it is while more is allocated there than the size that they returned
 * to.
 */
final class PreemptionHold {
  private static final Logger LOG = LoggerFactory.getLogger(PreemptionHold.class);

  /** As long as the core holds preemption back. */
  private static final long HOLD_MS = 300_000;

  private final CoreGuard guard;
  private final CoreHandle core;
  private final Supplier<List<FiCaSchedulerNode>> schedulerNodes;
  private final CoreNodes nodes;
  private final ElastaneMetrics metrics;
  private final SaidOnce queuesLogged = new SaidOnce();

  PreemptionHold(
      CoreGuard guard,
      CoreHandle core,
      Supplier<List<FiCaSchedulerNode>> schedulerNodes,
      CoreNodes nodes,
      ElastaneMetrics metrics) {
    this.guard = guard;
    this.core = core;
    this.schedulerNodes = schedulerNodes;
    this.nodes = nodes;
    this.metrics = metrics;
  }

  /**
   * Whether this attempt's containers on this node must not be preempted now.
   *
   * @param node null if the node is gone
   */
  boolean holdsBack(FiCaSchedulerApp attempt, FiCaSchedulerNode node) {
    NodeRecord record = node == null ? null : nodes.find(node.getNodeID());
    if (attempt == null || record == null || !(attempt.getQueue() instanceof CSQueue)) {
      return false;
    }
    if (node.isOvercommitTimeOutSet()) {
      // An administrator's order, not the monitor's.
      return false;
    }
    CSQueue queue = (CSQueue) attempt.getQueue();
    String label = node.getPartition();
    // A new core knows nothing of the nodes that were lowered while there was none.
    boolean mayPreempt =
        mayPreemptWithoutCore(queue, label)
            && (!guard.inService()
                || guard.supply(
                    "preemption",
                    true,
                    () -> core.mayPreempt(record.number, queue.getQueuePath())));
    if (!mayPreempt) {
      metrics.preemptionHeldBack();
      if (queuesLogged.isFirst(queue.getQueuePath())) {
        LOG.info(
            "Preemption in {} is held back: the queue uses no more than its share of the capacity"
                + " that was bookable before nodes shrank",
            queue.getQueuePath());
      }
    }
    return !mayPreempt;
  }

  /** The core's rule for memory, for nodes that were lowered while no core was in service. */
  private boolean mayPreemptWithoutCore(CSQueue queue, String label) {
    double share = queue.getQueueCapacities().getAbsoluteCapacity(label);
    long usedMemoryMib = queue.getQueueResourceUsage().getUsed(label).getMemorySize();
    long nowMs = Time.monotonicNow();
    long formerMemoryMib = 0;
    boolean anyHasShrunk = false;
    for (FiCaSchedulerNode node : schedulerNodes.get()) {
      if (node.getPartition().equals(label)) {
        NodeRecord record = nodes.find(node.getNodeID());
        long current = node.getTotalResource().getMemorySize();
        boolean hasShrunk = record != null && hasShrunk(node, record, nowMs);
        anyHasShrunk |= hasShrunk;
        formerMemoryMib +=
            hasShrunk ? Math.max(current, record.lowering().bookableMemoryMib) : current;
      }
    }
    return !anyHasShrunk || usedMemoryMib > share * formerMemoryMib;
  }

  private static boolean hasShrunk(FiCaSchedulerNode node, NodeRecord record, long nowMs) {
    return record.lowering() != NodeRecord.Lowering.NONE
        && nowMs - record.lowering().atMs <= HOLD_MS
        && !Resources.fitsIn(node.getAllocatedResource(), record.registered());
  }
}
