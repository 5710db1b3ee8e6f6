package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Hadoop's own preemption monitor on a raised node with virtual cores to spare. It compares
 * dominant shares, and gives a queue the virtual cores for which nobody asks.
 */
class OverdueGuaranteeTest {
  private static final String MONITOR = "yarn.resourcemanager.monitor.capacity.preemption.";

  @TempDir Path directory;

  private Configuration conf;

  @BeforeEach
  void monitored() {
    conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "left", "right");
    conf.set("yarn.scheduler.capacity.root.right.maximum-capacity", "50");
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_ENABLE_MONITORS, true);
    conf.set(MONITOR + "monitoring_interval", "200");
    conf.set(MONITOR + "max_wait_before_kill", "1000");
    conf.set(MONITOR + "total_preemption_per_round", "1");
    conf.set(MONITOR + "natural_termination_factor", "1");
    conf.set(MONITOR + "max_ignored_over_capacity", "0");
  }

  @Test
  void aQueueGetsItsGuaranteeThoughTheMonitorSeesNothingToTake() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      Halves halves = overbooked(cluster);
      cluster.heartbeatUntil(
          "nodes show less than is booked",
          () -> cluster.bookableMib(halves.node) == 12288 - 1024,
          halves.node);
      assertEquals(3, cluster.containers(halves.right), "the monitor saw nothing to take");

      cluster.heartbeatUntil(
          "right has its half", () -> cluster.containers(halves.right) == 4, halves.node);

      assertTrue(cluster.containers(halves.left) >= 4, "left keeps its own half");
    }
  }

  @Test
  void nodesKeepTheirSizeWhereTheMonitorMayTakeNothing() throws Exception {
    conf.setBoolean(MONITOR + "observe_only", true);
    try (TestCluster cluster = TestCluster.start(conf)) {
      Halves halves = overbooked(cluster);
      long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
      cluster.heartbeatUntil(
          "twice the monitor's time has passed", () -> System.nanoTime() > untilNs, halves.node);

      assertEquals(12288, cluster.bookableMib(halves.node));
    }
  }

  /**
   * A node of 8 GiB with all its CPU planned. Left holds 9 of 12 GiB, and the monitor would give it
   * 24 of 32 virtual cores; right has 3 of 4 GiB that it is guaranteed. Both wait.
   */
  private static Halves overbooked(TestCluster cluster) throws Exception {
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
    cluster.ask(left, 1024, 7);
    cluster.ask(right, 1024, 5);
    return new Halves(node, left, right);
  }

  private static final class Halves {
    private final MockNM node;
    private final MockAM left;
    private final MockAM right;

    private Halves(MockNM node, MockAM left, MockAM right) {
      this.node = node;
      this.left = left;
      this.right = right;
    }
  }
}
