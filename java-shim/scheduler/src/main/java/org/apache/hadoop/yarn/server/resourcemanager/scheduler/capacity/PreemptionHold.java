package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds back preemption that CapacityScheduler's monitor orders only because nodes returned to
 * their registered size while more than that is allocated on them.
 */
final class PreemptionHold {
  private static final Logger LOG = LoggerFactory.getLogger(PreemptionHold.class);

  private final CoreGuard guard;
  private final CoreHandle core;
  private final Supplier<List<FiCaSchedulerNode>> schedulerNodes;
  private final CoreNodes nodes;
  private final ElastaneMetrics metrics;
  private final Set<String> queuesLogged = ConcurrentHashMap.newKeySet();

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

  /** Whether this attempt's containers must not be preempted now. */
  boolean holdsBack(FiCaSchedulerApp attempt) {
    if (attempt == null || !(attempt.getQueue() instanceof CSQueue)) {
      return false;
    }
    CSQueue queue = (CSQueue) attempt.getQueue();
    double share = queue.getAbsoluteCapacity();
    Resource used = queue.getUsedResources();
    boolean mayPreempt =
        guard.inService()
            ? guard.supply("preemption", true, () -> core.mayPreempt(share, used))
            : mayPreemptWithoutCore(share, used.getMemorySize());
    if (!mayPreempt) {
      metrics.preemptionHeldBack();
      if (queuesLogged.add(queue.getQueuePath())) {
        LOG.info(
            "Preemption in {} is held back: the queue uses no more than its share of the capacity"
                + " that was bookable before nodes returned to their registered size",
            queue.getQueuePath());
      }
    }
    return !mayPreempt;
  }

  /** The core's rule for memory, for a core that is out of service. */
  private boolean mayPreemptWithoutCore(double share, long usedMemoryMib) {
    long formerMemoryMib = 0;
    boolean anyAbove = false;
    for (FiCaSchedulerNode node : schedulerNodes.get()) {
      NodeRecord record = nodes.find(node.getNodeID());
      if (record == null || Resources.fitsIn(node.getAllocatedResource(), record.registered())) {
        formerMemoryMib += node.getTotalResource().getMemorySize();
      } else {
        anyAbove = true;
        formerMemoryMib += record.memoryMibBeforeLowering();
      }
    }
    return !anyAbove || usedMemoryMib > share * formerMemoryMib;
  }
}
