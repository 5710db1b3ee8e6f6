package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hadoop's own preemption monitor on a raised node with virtual cores to spare. It compares
 * dominant shares, and gives a queue the virtual cores for which nobody asks.
 */
class OverdueGuaranteeTest {
  private static final String MONITOR = "yarn.resourcemanager.monitor.capacity.preemption.";

  @TempDir Path directory;

  @Test
  void aQueueGetsItsGuaranteeThoughTheMonitorSeesNothingToTake() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "left", "right");
    conf.set("yarn.scheduler.capacity.root.right.maximum-capacity", "50");
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
    conf.set(MONITOR + "monitoring_interval", "200");
    conf.set(MONITOR + "max_wait_before_kill", "200");
    conf.set(MONITOR + "total_preemption_per_round", "1");
    conf.set(MONITOR + "natural_termination_factor", "1");
    conf.set(MONITOR + "max_ignored_over_capacity", "0");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 32);
      MockAM left = cluster.launch("left", node);
      MockAM right = cluster.launch("right", node);
      // Ten of these use all CPU that the masters leave.
      cluster.foresee(left, 1, 3000, 100);
      cluster.foresee(right, 1, 3000, 100);
      cluster.ask(right, 1024, 2);
      cluster.heartbeatUntil("right holds 3 GiB", () -> cluster.containers(right) == 3, node);
      cluster.ask(left, 1024, 8);
      cluster.heartbeatUntil("left holds 9 GiB", () -> cluster.containers(left) == 9, node);

      // The monitor finds left at 9 of 12 GiB, and would give it 24 of 32 virtual cores.
      cluster.ask(left, 1024, 7);
      cluster.ask(right, 1024, 5);
      cluster.heartbeatUntil("right has its half", () -> cluster.containers(right) == 4, node);

      assertTrue(cluster.containers(left) >= 4, "left keeps its own half");
      assertEquals(8192, cluster.bookableMib(node), "the node was returned to its size");
    }
  }
}
