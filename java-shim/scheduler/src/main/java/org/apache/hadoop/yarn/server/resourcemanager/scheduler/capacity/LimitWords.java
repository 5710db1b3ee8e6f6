package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;

/** The limit of a queue or user that an application's next container does not fit, with its amounts. */
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
    for (CSQueue queue = leaf; queue != null; queue = queue.getParent()) {
      Resource most = queue.getQueueResourceQuotas().getEffectiveMaxResource();
      Resource used = queue.getQueueResourceUsage().getUsed();
      if (!Resources.fitsIn(calculator, Resources.add(used, next), most)) {
        return String.format(
            "queue %s has %s of at most %s, and the next container requests %s",
            queue.getQueuePath(), used, most, next);
      }
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

  private static boolean isUsedUp(Resource left, ResourceCalculator calculator) {
    return !Resources.fitsIn(calculator, Resource.newInstance(1, 1), left);
  }
}
