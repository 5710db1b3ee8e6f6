package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core's second decision, at the commit. */
class CommitTest {
  @TempDir Path directory;

  /** One commit is refused, since the node's memory shrinks after the proposal. */
  private Configuration refusing() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, VetoingScheduler.class, ResourceScheduler.class);
    // The node's size alone bounds the containers of one heartbeat.
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.maximum-container-assignments", "-1");
    conf.set("yarn.scheduler.capacity.per-node-heartbeat.maximum-offswitch-assignments", "1000000");
    return conf;
  }

  @Test
  void aRefusedCommitLeavesNoTrace() throws Exception {
    try (TestCluster cluster = TestCluster.start(refusing())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);
      VetoingScheduler scheduler = (VetoingScheduler) cluster.scheduler();
      scheduler.refuse(cluster, node, master);
      cluster.heartbeat(node);
      cluster.heartbeat(node);

      assertEquals(2, cluster.metrics().refusedCommitCount(), "one for each heartbeat");
      assertEquals(1024, cluster.allocatedMib(node));
      assertNull(cluster.schedulerNode(node).getReservedContainer());
      FiCaSchedulerApp attempt =
          cluster.scheduler().getApplicationAttempt(master.getApplicationAttemptId());
      assertEquals(
          8, attempt.getAppSchedulingInfo().getNextPendingAsk().getCount(), "still asked for");
      assertEquals(1024, attempt.getCurrentConsumption().getMemorySize());
      assertEquals(1, cluster.metrics().placedByCoreCount(), "the master");
      scheduler.refuse(cluster, node, null);
      cluster.heartbeat(node);
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(2, cluster.metrics().refusedCommitCount());
      assertEquals(
          4, cluster.containerIds(master).get(3).getContainerId() & 0xffffff, "no gap in the ids");
    }
  }

  @Test
  void whatTheCoreWasToldOfEndsWithTheContainer() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 1);
      cluster.heartbeat(node);
      assertEquals(2, cluster.coreStatus().at("/nodes/0/containers").asInt());

      node.nodeHeartbeat(master.getApplicationAttemptId(), 2, ContainerState.COMPLETE);
      cluster.resourceManager().drainEvents();
      assertEquals(1, cluster.coreStatus().at("/nodes/0/containers").asInt());

      cluster.resourceManager().killApp(master.getApplicationAttemptId().getApplicationId());
      cluster.resourceManager().drainEvents();
      assertEquals(0, cluster.coreStatus().at("/nodes/0/containers").asInt());
    }
  }

  @Test
  void theCoreIsToldWhatWaitsAndWhenItIsWithdrawn() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      assertEquals(0, cluster.coreStatus().at("/waiting").size());

      cluster.ask(master, 1024, 7);
      assertEquals(7, cluster.coreStatus().at("/waiting/0/containers").asInt());
      cluster.heartbeat(node);
      assertEquals(6, cluster.coreStatus().at("/waiting/0/containers").asInt());
      cluster.ask(master, 1024, 0);
      assertEquals(0, cluster.coreStatus().at("/waiting").size());
    }
  }

  @Test
  void anApplicationThatItsQueueDoesNotLetStartIsHeldUntilItMay() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.25");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);

      RMApp third = cluster.submit("default");

      String reason = cluster.coreStatus().at("/waiting/0/reason").asText();
      assertTrue(reason.startsWith("CapacityScheduler does not let it start: "), reason);
      cluster.heartbeat(node);
      assertEquals(2048, cluster.allocatedMib(node));

      second.unregisterAppAttempt();
      node.nodeHeartbeat(second.getApplicationAttemptId(), 1, ContainerState.COMPLETE);
      cluster.heartbeatUntil(
          "it starts", () -> third.getCurrentAppAttempt().getMasterContainer() != null, node);
      assertEquals(0, cluster.coreStatus().at("/waiting").size());
    }
  }

  @Test
  void anAskThatWasServedButNeverFetchedWaitsAgain() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockNM lost = cluster.registerReporting("127.0.0.1:2", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 1);
      cluster.heartbeat(lost);
      assertEquals(1024, cluster.allocatedMib(lost));
      assertEquals(0, cluster.coreStatus().at("/waiting").size());

      cluster.resourceManager().sendNodeLost(lost);
      cluster.resourceManager().drainEvents();
      cluster.heartbeat(node);

      assertEquals(2, cluster.containers(master));
    }
  }
}
