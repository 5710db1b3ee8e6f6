package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.QueueResourceQuotas;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells the core the queues and their shares, and whether they let nodes be raised. */
final class CoreQueues {
  private static final Logger LOG = LoggerFactory.getLogger(CoreQueues.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  private final CoreHandle core;
  private final CapacityScheduler scheduler;
  private final OrderedQueues ordered;
  private final UserLimits userLimits = new UserLimits();
  private final SaidOnce sharedLogged = new SaidOnce();
  private final Set<String> told = ConcurrentHashMap.newKeySet();

  CoreQueues(CoreHandle core, CapacityScheduler scheduler, OrderedQueues ordered) {
    this.core = core;
    this.scheduler = scheduler;
    this.ordered = ordered;
  }

  /**
   * Tells the core all queues if it does not know this one, which CapacityScheduler has just made.
   */
  void tellIfNew(CSQueue queue) {
    if (!told.contains(queue.getQueuePath())) {
      tell();
    }
  }

  void tell() {
    List<Map<String, Object>> shares = new ArrayList<>();
    Set<String> paths = ConcurrentHashMap.newKeySet();
    Long preemptedWithinMs = PreemptionMonitor.withinMs(scheduler.getConfiguration());
    for (CSQueue queue : scheduler.getCapacitySchedulerQueueManager().getQueues().values()) {
      // CapacityScheduler keeps a queue under its short name, too.
      if (paths.add(queue.getQueuePath())) {
        QueueCapacities capacities = queue.getQueueCapacities();
        for (String label : capacities.getExistingNodeLabels()) {
          shares.add(share(queue, capacities, label, preemptedWithinMs));
        }
      }
    }
    try {
      core.queues(JSON.writeValueAsString(shares));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the queues cannot be described", e);
    }
    core.forbidRaising(ordered.forbidsRaising());
    told.retainAll(paths);
    told.addAll(paths);
  }

  private Map<String, Object> share(
      CSQueue queue, QueueCapacities capacities, String label, Long preemptedWithinMs) {
    Map<String, Object> share = new LinkedHashMap<>();
    share.put("queue", queue.getQueuePath());
    share.put("label", label);
    boolean labelIsShared = isShared(label);
    if (labelIsShared && sharedLogged.isFirst(label)) {
      LOG.warn(
          "node label {} is not exclusive: none of its nodes is raised above its registered size,"
              + " because queues may borrow them above their maximum capacity",
          label);
    }
    share.put("is_label_shared", labelIsShared);
    share.put("is_leaf", queue.getChildQueues() == null || queue.getChildQueues().isEmpty());
    share.put("capacity", capacities.getAbsoluteCapacity(label));
    share.put("maximum", maximum(queue, capacities, label));
    // The root's amounts are the nodes' sizes at some moment.
    if (queue.getParent() != null) {
      QueueResourceQuotas amounts = queue.getQueueResourceQuotas();
      share.put("guaranteed", amount(amounts.getConfiguredMinResource(label)));
      share.put("at_most", amount(amounts.getConfiguredMaxResource(label)));
    }
    if (userLimits.isLeaf(queue)) {
      share.put("user_limit", userLimit(queue));
      share.put("masters", capacities.getMaxAMResourcePercentage(label));
      share.put("preempted_within_ms", queue.getPreemptionDisabled() ? null : preemptedWithinMs);
    }
    return share;
  }

  private Map<String, Object> userLimit(CSQueue queue) {
    Map<String, Object> limit = new LinkedHashMap<>();
    limit.put("factor", userLimits.factor(queue));
    limit.put("minimum_percent", userLimits.minimumPercent(queue));
    limit.put("minimum_allocation", amount(((AbstractCSQueue) queue).getMinimumAllocation()));
    return limit;
  }

  /** Whether a node label is not exclusive. */
  private boolean isShared(String label) {
    RMNodeLabelsManager manager = scheduler.getRMContext().getNodeLabelManager();
    try {
      return manager != null
          && !label.equals(RMNodeLabelsManager.NO_LABEL)
          && !manager.isExclusiveNodeLabel(label);
    } catch (IOException e) {
      // The cluster does not have the label, though a queue names it.
      return false;
    }
  }

  /**
   * The largest part of the label's nodes. A queue without a maximum of its own, below one whose
   * maximum is an amount, is limited by that one alone: CapacityScheduler computes its part from
   * the raised size of the nodes.
   */
  private static float maximum(CSQueue queue, QueueCapacities capacities, String label) {
    CSQueue above = queue.getParent();
    while (above != null && above.getParent() != null) {
      if (amount(above.getQueueResourceQuotas().getConfiguredMaxResource(label)) != null) {
        return 1;
      }
      above = above.getParent();
    }
    return capacities.getAbsoluteMaximumCapacity(label);
  }

  private static Map<String, Object> amount(Resource configured) {
    if (configured == null || configured.equals(Resources.none())) {
      return null;
    }
    Map<String, Object> amount = new LinkedHashMap<>();
    amount.put("memory_bytes", configured.getMemorySize() * BYTES_PER_MIB);
    amount.put("vcores", configured.getVirtualCores());
    return amount;
  }
}
