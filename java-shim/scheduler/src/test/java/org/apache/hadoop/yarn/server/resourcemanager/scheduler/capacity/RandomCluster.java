package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;

/**
 * The cluster of the tests with random operations: queue a with a maximum capacity, queue b with a
 * small user limit, and queues x and y below c.
 */
final class RandomCluster {
  private RandomCluster() {}

  /** The leaf queues. */
  static final String[] QUEUES = {"a", "b", "x", "y"};

  static final String[] USERS = {"somebody", "another", "third"};

  static Configuration configuration(
      Class<? extends ResourceScheduler> scheduler, String mode, Path directory) {
    Configuration conf = TestCluster.configuration(scheduler, mode, directory);
    conf.set(
        "hadoop.user.group.static.mapping.overrides",
        "somebody=somebody;another=another;third=third");
    TestCluster.queues(conf, "a", "b", "c");
    String prefix = "yarn.scheduler.capacity.root.";
    conf.set(prefix + "a.capacity", "30");
    conf.set(prefix + "a.maximum-capacity", "50");
    conf.set(prefix + "b.capacity", "40");
    conf.set(prefix + "b.user-limit-factor", "0.5");
    conf.set(prefix + "b.minimum-user-limit-percent", "25");
    conf.set(prefix + "c.capacity", "30");
    conf.set(prefix + "c.maximum-capacity", "80");
    conf.set(prefix + "c.queues", "x,y");
    for (String leaf : new String[] {"x", "y"}) {
      conf.set(prefix + "c." + leaf + ".capacity", "50");
      conf.set(prefix + "c." + leaf + ".user-limit-factor", "10");
    }
    conf.set("yarn.scheduler.elastane.report.missed", "2");
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "3");
    conf.set("yarn.scheduler.elastane.starvation.wait-ms", "86400000");
    // CapacityScheduler looks for the node of a container that grows by its host.
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME, false);
    conf.setBoolean(YarnConfiguration.OPPORTUNISTIC_CONTAINER_ALLOCATION_ENABLED, true);
    // With opportunistic containers Hadoop 3.5's MockRM listens.
    conf.set(YarnConfiguration.RM_SCHEDULER_ADDRESS, "127.0.0.1:0");
    conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 0);
    // Nothing depends on the time that a test takes.
    for (String expiry :
        new String[] {
          YarnConfiguration.RM_AM_EXPIRY_INTERVAL_MS,
          YarnConfiguration.RM_NM_EXPIRY_INTERVAL_MS,
          YarnConfiguration.RM_CONTAINER_ALLOC_EXPIRY_INTERVAL_MS
        }) {
      conf.setInt(expiry, 7_200_000);
    }
    conf.setInt(YarnConfiguration.RM_MAX_COMPLETED_APPLICATIONS, 100);
    return conf;
  }
}
