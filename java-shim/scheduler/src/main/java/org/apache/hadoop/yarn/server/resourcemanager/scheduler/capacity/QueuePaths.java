package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** The paths of applications' queues. */
final class QueuePaths {
  private QueuePaths() {}

  /**
   * The path of the leaf queue. The ResourceManager's own record may have the queue as it was
   * submitted: on Hadoop 3.3 that is {@code default} where 3.4 has {@code root.default}.
   */
  static String of(CapacityScheduler scheduler, RMApp application) {
    SchedulerApplication<FiCaSchedulerApp> known =
        scheduler.getSchedulerApplications().get(application.getApplicationId());
    CSQueue queue =
        known != null && known.getQueue() instanceof CSQueue
            ? (CSQueue) known.getQueue()
            : scheduler.getQueue(application.getQueue());
    return queue == null ? application.getQueue() : queue.getQueuePath();
  }
}
