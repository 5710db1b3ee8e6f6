package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The words for the limit of CapacityScheduler that holds an executor back. */
class LimitWordsTest {
  @TempDir Path directory;

  @Test
  void aQueueAtItsMaximumIsNamedWithItsAmounts() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set("yarn.scheduler.capacity.root.a.maximum-capacity", "50");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("a", node);
      assertNull(words(cluster, master), "it asks for nothing");
      cluster.ask(master, 1024, 3);
      assertNull(words(cluster, master), "another one fits");
      cluster.heartbeatUntil("the queue is full", () -> cluster.containers(master) == 2, node);

      assertEquals(
          "queue root.a has <memory:2048, vCores:2> of at most <memory:2048, vCores:2>, and the"
              + " next container requests <memory:1024, vCores:1>",
          words(cluster, master));
    }
  }

  @Test
  void aFullClusterIsNoLimitOfTheQueue() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 2048, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 2);
      cluster.heartbeatUntil("the node is full", () -> cluster.containers(master) == 2, node);

      String words = words(cluster, master);
      assertTrue(words.startsWith("queue root has <memory:2048, vCores:2> of at most"), words);
    }
  }

  @Test
  void aUserAtTheLimitIsNamed() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set("yarn.scheduler.capacity.root.a.maximum-capacity", "100");
    conf.set("yarn.scheduler.capacity.root.a.user-limit-factor", "0.5");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = cluster.launch("a", node);
      cluster.ask(master, 1024, 8);
      assertNull(words(cluster, master), "the limit is not reached");
      cluster.heartbeatUntil("the user's part", () -> cluster.containers(master) == 3, node);

      assertEquals(
          "user somebody has <memory:3072, vCores:3> of at most <memory:2048, vCores:2> in queue"
              + " root.a, and the next container requests <memory:1024, vCores:1>",
          words(cluster, master));
    }
  }

  static String words(TestCluster cluster, MockAM master) {
    FiCaSchedulerApp attempt =
        cluster.capacityScheduler().getApplicationAttempt(master.getApplicationAttemptId());
    return LimitWords.of(cluster.scheduler(), attempt, (CSQueue) attempt.getQueue());
  }
}
