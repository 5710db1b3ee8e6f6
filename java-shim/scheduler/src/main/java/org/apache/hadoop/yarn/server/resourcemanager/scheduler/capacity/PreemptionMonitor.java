package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.DEFAULT_PREEMPTION_MONITORING_INTERVAL;
import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.DEFAULT_PREEMPTION_OBSERVE_ONLY;
import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.DEFAULT_PREEMPTION_WAIT_TIME_BEFORE_KILL;
import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.PREEMPTION_MONITORING_INTERVAL;
import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.PREEMPTION_OBSERVE_ONLY;
import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacitySchedulerConfiguration.PREEMPTION_WAIT_TIME_BEFORE_KILL;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.monitor.capacity.ProportionalCapacityPreemptionPolicy;

/** How CapacityScheduler's preemption monitor is configured. */
final class PreemptionMonitor {
  private PreemptionMonitor() {}

  /** How long a container's ApplicationMaster is told before the container is ended. */
  static long waitMs(Configuration conf) {
    return conf.getLong(PREEMPTION_WAIT_TIME_BEFORE_KILL, DEFAULT_PREEMPTION_WAIT_TIME_BEFORE_KILL);
  }

  /**
   * How long the monitor takes from its first choice of a container to that container's end; null
   * where it does not run or ends none.
   */
  static Long withinMs(Configuration conf) {
    boolean isEnabled =
        conf.getBoolean(
            YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS,
            YarnConfiguration.DEFAULT_RM_SCHEDULER_ENABLE_MONITORS);
    String name = ProportionalCapacityPreemptionPolicy.class.getName();
    boolean isMonitor =
        conf.get(YarnConfiguration.RM_SCHEDULER_MONITOR_POLICIES, name).contains(name);
    if (!isEnabled
        || !isMonitor
        || conf.getBoolean(PREEMPTION_OBSERVE_ONLY, DEFAULT_PREEMPTION_OBSERVE_ONLY)) {
      return null;
    }
    return waitMs(conf)
        + conf.getLong(PREEMPTION_MONITORING_INTERVAL, DEFAULT_PREEMPTION_MONITORING_INTERVAL);
  }
}
