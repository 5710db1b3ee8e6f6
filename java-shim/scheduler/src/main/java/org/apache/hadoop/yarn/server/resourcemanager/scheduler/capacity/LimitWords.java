package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * The limit of a queue or user that an application's next container does not fit, with its amounts.
 */
final class LimitWords {
  private LimitWords() {}

  /**
   * Null if the next container fits every limit, or asks for nodes with a label.
   *
   * @param leaf the application's queue
   */
  static String of(FiCaSchedulerApp attempt, CSQueue leaf, ResourceCalculator calculator) {
    PendingAsks asks = PendingAsks.of(attempt);
    if (asks.getCount() == 0 || asks.isForLabel()) {
      return null;
    }
    Resource next = Resource.newInstance(asks.getMemoryMib(), asks.getVirtualCores());
    CSQueue full = null;
    // The highest one: where the cluster is full, no queue below is to blame.
    for (CSQueue queue = leaf; queue != null; queue = queue.getParent()) {
      Resource with = Resources.add(queue.getQueueResourceUsage().getUsed(), next);
      if (!Resources.fitsIn(calculator, with, mostOf(queue))) {
        full = queue;
      }
    }
    if (full != null) {
      return String.format(
          "queue %s has %s of at most %s, and the next container requests %s",
          full.getQueuePath(), full.getQueueResourceUsage().getUsed(), mostOf(full), next);
    }
    // CapacityScheduler lets a user pass the limit by one container.
    if (isUsedUp(attempt.getHeadroom(), calculator)) {
      return String.format(
          "user %s has reached the limit of a user in queue %s; this application has %s, and the"
              + " next container requests %s",
          attempt.getUser(), leaf.getQueuePath(), attempt.getCurrentConsumption(), next);
    }
    return null;
  }

  private static Resource mostOf(CSQueue queue) {
    return queue.getQueueResourceQuotas().getEffectiveMaxResource();
  }

  private static boolean isUsedUp(Resource left, ResourceCalculator calculator) {
    return !Resources.fitsIn(calculator, Resource.newInstance(1, 1), left);
  }
}
