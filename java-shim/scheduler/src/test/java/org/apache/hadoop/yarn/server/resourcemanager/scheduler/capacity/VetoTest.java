package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A refused commit costs its own container, and no queue and no heartbeat. */
class VetoTest {
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(20);

  @TempDir Path directory;

  @Test
  void anUnraisedNodeIsCapacitySchedulersInAQueueThatIsNotOurs() throws Exception {
    Configuration conf = asManyAsFit();
    TestCluster.anotherPolicy(conf);
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      cluster.reportMemory(node, 4096);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 7);

      cluster.heartbeat(node);

      assertEquals(8192, cluster.allocatedMib(node), "as many as CapacityScheduler alone places");
      assertEquals(0, cluster.metrics().refusedCommitCount());
      assertEquals(8, cluster.coreStatus().at("/nodes/0/containers").asInt(), "all are recorded");
    }
  }

  @Test
  void multiNodePlacementIsCapacitySchedulersAlone() throws Exception {
    Configuration conf = multiNode(asManyAsFit());
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      cluster.reportMemory(node, 4096);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 7);

      cluster.heartbeat(node);

      assertEquals(8192, cluster.allocatedMib(node));
      assertEquals(0, cluster.metrics().refusedCommitCount());
      assertNotNull(cluster.scheduler().link().raisingForbidden());
      assertTrue(
          cluster.scheduler().link().raisingForbidden().contains("multi-node-placement-enabled"));
    }
  }

  @Test
  void aHeartbeatEndsAlthoughANodeLocalContainerIsRefusedUnderMultiNodePlacement()
      throws Exception {
    Configuration conf = multiNode(asManyAsFit());
    conf.setClass(YarnConfiguration.RM_SCHEDULER, VetoingScheduler.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      cluster.report(node);
      MockNM other = cluster.register("127.0.0.1:2", 8192, 8);
      // On a raised node the container would be refused; BookableCapacity looks once a second.
      cluster.heartbeatUntil("a second has passed", after(1500), node, other);
      MockAM master = cluster.launch("default", node);
      askLocal(cluster, master, "127.0.0.1:1");
      ((VetoingScheduler) cluster.scheduler()).refuse(cluster, node, master);

      // CapacityScheduler considers nodes with a recent heartbeat.
      assertTimeoutPreemptively(ENDS_WITHIN, () -> cluster.heartbeat(other, node));

      assertTrue(((VetoingScheduler) cluster.scheduler()).proposals() <= 2);
    }
  }

  @Test
  void aRefusedContainerIsNotProposedAgainAndTheNextApplicationIsServed() throws Exception {
    Configuration conf = asManyAsFit();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, VetoingScheduler.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 8);
      MockAM first = cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);
      askLocal(cluster, first, "127.0.0.1:1");
      cluster.ask(second, 1024, 2);
      VetoingScheduler scheduler = (VetoingScheduler) cluster.scheduler();
      scheduler.refuse(cluster, node, first);

      assertTimeoutPreemptively(ENDS_WITHIN, () -> cluster.heartbeat(node));

      assertEquals(1, cluster.containers(first));
      assertEquals(3, cluster.containers(second), "in this very heartbeat");
      // The second one gets two containers in two attempts, and the third finds nothing.
      assertTrue(scheduler.proposals() <= 3, scheduler.proposals() + " proposals");
    }
  }

  @Test
  void aQueueThatIsNotOursForbidsRaising() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "default", "ours");
    try (TestCluster cluster = TestCluster.start(conf)) {
      assertNull(cluster.scheduler().link().raisingForbidden());
    }
    TestCluster.anotherPolicy(conf);
    try (TestCluster cluster = TestCluster.start(conf)) {
      assertTrue(cluster.scheduler().link().raisingForbidden().contains("root.default"));
    }
  }

  private Configuration asManyAsFit() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", "true");
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "-1");
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "1000000");
    return conf;
  }

  private static Configuration multiNode(Configuration conf) {
    conf.set("yarn.scheduler.capacity.multi-node-placement-enabled", "true");
    conf.set("yarn.scheduler.capacity.multi-node-sorting.policy", "by-usage");
    conf.set("yarn.scheduler.capacity.multi-node-sorting.policy.names", "by-usage");
    conf.set(
        "yarn.scheduler.capacity.multi-node-sorting.policy.by-usage.class",
        "org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement"
            + ".ResourceUsageMultiNodeLookupPolicy");
    return conf;
  }

  private static BooleanSupplier after(long milliseconds) {
    long untilMs = Time.monotonicNow() + milliseconds;
    return () -> Time.monotonicNow() > untilMs;
  }

  private static void askLocal(TestCluster cluster, MockAM master, String node) throws Exception {
    Priority priority = Priority.newInstance(1);
    Resource size = Resource.newInstance(1024, 1);
    master.allocate(
        Arrays.asList(
            ResourceRequest.newInstance(priority, node, size, 1),
            ResourceRequest.newInstance(priority, "/default-rack", size, 1),
            ResourceRequest.newInstance(priority, ResourceRequest.ANY, size, 1)),
        null);
    cluster.resourceManager().drainEvents();
  }
}
