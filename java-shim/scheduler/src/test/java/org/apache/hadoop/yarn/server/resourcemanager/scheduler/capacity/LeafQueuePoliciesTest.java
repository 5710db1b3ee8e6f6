package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.commons.lang3.StringUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicyWithExclusivePartitions;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.OrderingPolicy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Which leaf queues are ordered by the core. */
class LeafQueuePoliciesTest {
  @TempDir Path directory;

  @Test
  void fifoAndFairAreReplacedAndAnyOtherPolicyIsLeftAlone() throws Exception {
    try (TestCluster cluster = TestCluster.start(threePolicies())) {
      assertPolicies(cluster);
    }
  }

  @Test
  void aRefreshOfTheQueuesChangesNothing() throws Exception {
    Configuration conf = threePolicies();
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("fifo", node);

      cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());

      assertPolicies(cluster);
      cluster.ask(master, 1024, 8);
      for (int i = 0; i < 5; i++) {
        cluster.heartbeat(node);
      }
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(4, cluster.metrics().placedByCoreCount());
    }
  }

  @Test
  void aRefreshThatIsRefusedChangesNothing() throws Exception {
    Configuration conf = threePolicies();
    try (TestCluster cluster = TestCluster.start(conf)) {
      Configuration bad = new Configuration(conf);
      bad.set("yarn.scheduler.capacity.root.fifo.capacity", "77");

      assertThrows(
          IOException.class,
          () -> cluster.scheduler().reinitialize(bad, cluster.resourceManager().getRMContext()));

      assertPolicies(cluster);
    }
  }

  @Test
  void aRefreshThatBringsAnotherPolicyLowersRaisedNodesAndKeepsThemThere() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(LeafQueuePolicies.class));
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      assertNull(cluster.scheduler().link().raisingForbidden());

      Configuration foreign = new Configuration(conf);
      TestCluster.anotherPolicy(foreign);
      refresh(cluster, foreign);
      refresh(cluster, foreign);

      assertNotNull(cluster.scheduler().link().raisingForbidden());
      cluster.heartbeatUntil("it is lowered", () -> cluster.bookableMib(node) == 4096, node);
      // Its agent reports, and small ones wait: with Elastane's policy, below, the node is raised.
      long untilMs = Time.monotonicNow() + 2_500;
      while (Time.monotonicNow() < untilMs) {
        cluster.report(node);
        cluster.heartbeat(node);
        assertEquals(4096, cluster.bookableMib(node));
        Thread.sleep(20);
      }
      String said = "queue root.default: ordering policy";
      assertEquals(1, StringUtils.countMatches(log.getOutput(), said), log.getOutput());

      refresh(cluster, conf);
      assertNull(cluster.scheduler().link().raisingForbidden());
      cluster.raise(node);
    } finally {
      log.stopCapturing();
    }
  }

  private static void refresh(TestCluster cluster, Configuration conf) throws IOException {
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
  }

  @Test
  void aQueueThatIsCreatedForAnApplicationIsOrderedToo() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.capacity.root.queues", "users");
    conf.set("yarn.scheduler.capacity.root.users.capacity", "100");
    conf.setBoolean("yarn.scheduler.capacity.root.users.auto-create-child-queue.enabled", true);
    conf.set("yarn.scheduler.capacity.root.users.leaf-queue-template.capacity", "50");
    conf.set("yarn.scheduler.capacity.root.users.leaf-queue-template.maximum-capacity", "100");
    conf.set("yarn.scheduler.capacity.queue-mappings", "u:%user:root.users.%user");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);

      MockAM master = cluster.launch("default", node);

      CSQueue created = cluster.scheduler().getQueue("root.users.somebody");
      assertEquals(ElastaneFifoOrderingPolicy.class, policy(created).getClass());
      assertEquals(1, cluster.metrics().placedByCoreCount());
      assertEquals(1, cluster.containers(master));
    }
  }

  @Test
  void inObserveModeEveryQueueKeepsItsPolicy() throws Exception {
    Configuration conf = threePolicies();
    conf.set("yarn.scheduler.elastane.mode", "observe");
    try (TestCluster cluster = TestCluster.start(conf)) {
      assertEquals(FifoOrderingPolicy.class, policy(cluster, "root.fifo").getClass());
      assertEquals(FairOrderingPolicy.class, policy(cluster, "root.fair").getClass());
    }
  }

  private Configuration threePolicies() {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "fifo", "fair", "other");
    conf.set("yarn.scheduler.capacity.root.fair.ordering-policy", "fair");
    conf.setBoolean(
        "yarn.scheduler.capacity.root.fair.ordering-policy.fair.enable-size-based-weight", true);
    conf.set(
        "yarn.scheduler.capacity.root.other.ordering-policy",
        FifoOrderingPolicyWithExclusivePartitions.class.getName());
    return conf;
  }

  private static void assertPolicies(TestCluster cluster) {
    assertEquals(ElastaneFifoOrderingPolicy.class, policy(cluster, "root.fifo").getClass());
    OrderingPolicy<?> fair = policy(cluster, "root.fair");
    assertEquals(ElastaneFairOrderingPolicy.class, fair.getClass());
    assertTrue(((FairOrderingPolicy<?>) fair).getSizeBasedWeight());
    assertEquals(
        FifoOrderingPolicyWithExclusivePartitions.class, policy(cluster, "root.other").getClass());
  }

  private static OrderingPolicy<?> policy(TestCluster cluster, String queue) {
    return policy(cluster.scheduler().getQueue(queue));
  }

  private static OrderingPolicy<?> policy(CSQueue queue) {
    return new LeafQueuePolicies(path -> null).policyOf(queue);
  }
}
