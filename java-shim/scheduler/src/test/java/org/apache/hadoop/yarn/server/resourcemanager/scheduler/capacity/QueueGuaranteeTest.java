package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No queue takes more of the machines than it may, and each gets its guarantee. */
class QueueGuaranteeTest {
  @TempDir Path directory;

  private Configuration conf;

  @BeforeEach
  void halves() {
    conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set("yarn.scheduler.capacity.root.a.maximum-capacity", "50");
  }

  @Test
  void aQueueOfUnknownApplicationsGetsItsMaximumAndTheOtherItsGuarantee() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM large = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockNM small = cluster.registerReporting("127.0.0.1:2", 4096, 4);
      MockAM master = cluster.launch("a", large);
      cluster.ask(master, 1024, 12);
      for (int i = 0; i < 12; i++) {
        cluster.heartbeat(large, small);
      }

      assertEquals(6144, usedMib(cluster, "a"), "half of 12,288, as in mode off");
      MockAM other = cluster.launch("b", small);
      cluster.ask(other, 1024, 5);
      cluster.heartbeatUntil("b has its half", () -> usedMib(cluster, "b") == 6144, large, small);
    }
  }

  @Test
  void aContainerGoesToNoNodeThatRegisteredLess() throws Exception {
    conf.set("yarn.scheduler.capacity.root.a.maximum-capacity", "100");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM small = cluster.registerRaised("127.0.0.1:2", 4096, 4);
      MockNM large = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = cluster.launch("a", large);
      cluster.ask(master, 6144, 1);
      for (int i = 0; i < 3; i++) {
        cluster.heartbeat(small);
      }
      assertEquals(6144, cluster.bookableMib(small), "it would fit what may be booked");
      assertEquals(0, cluster.allocatedMib(small));

      cluster.heartbeatUntil("it runs", () -> cluster.allocatedMib(large) == 7168, large);
    }
  }

  @Test
  void noContainerMayBeLargerThanWhatANodeRegistered() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);

      assertTrue(cluster.bookableMib(node) > 4096);
      Resource largest = cluster.scheduler().getMaximumResourceCapability();
      assertEquals(4096, largest.getMemorySize());
      assertEquals(4096, cluster.scheduler().getMaximumResourceCapability("a").getMemorySize());
    }
  }

  @Test
  void aKnownQueueBooksMoreThanItsMaximumButTakesNoMoreThanThatOfTheMachine() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 32);
      MockAM master = cluster.launch("a", node);
      cluster.ask(master, 512, 32);
      cluster.foresee(master, 1, 100, 256);
      cluster.heartbeatUntil("a books more", () -> usedMib(cluster, "a") > 4096, node);
      for (int i = 0; i < 16; i++) {
        cluster.heartbeat(node);
      }

      long executors = (usedMib(cluster, "a") - 1024) / 512;
      assertTrue(1024 + 256 * executors <= 4096, executors + " executors");
      MockAM other = cluster.launch("b", node);
      cluster.ask(other, 1024, 3);
      cluster.heartbeatUntil("b has its half", () -> usedMib(cluster, "b") == 4096, node);
    }
  }

  @Test
  void aQueueBelowOneOfAnAbsoluteMaximumKeepsItAfterARefreshOfRaisedNodes() throws Exception {
    String root = "yarn.scheduler.capacity.root";
    TestCluster.queues(conf, "p", "q");
    for (String queue : Arrays.asList("p", "q", "p.x")) {
      conf.set(root + "." + queue + ".capacity", "[memory=4096,vcores=4]");
      conf.set(root + "." + queue + ".user-limit-factor", "100");
    }
    conf.set(root + ".p.queues", "x");
    conf.set(root + ".p.maximum-capacity", "[memory=4096,vcores=4]");
    conf.set(root + ".q.maximum-capacity", "[memory=8192,vcores=8]");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM small = cluster.launch("q", node);
      cluster.ask(small, 256, 100);
      cluster.foresee(small, 1, 1, 1);
      cluster.heartbeatUntil(
          "the node is raised",
          () -> cluster.bookableMib(node) > 8192 * TestCluster.MAX_RATIO * 0.97,
          node);
      cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
      MockAM master = cluster.launch("x", node);
      cluster.ask(master, 1024, 8);

      cluster.heartbeatUntil("p has its maximum", () -> usedMib(cluster, "p.x") == 4096, node);
    }
  }

  @Test
  void anApplicationMasterIsToldNoMoreThanItsQueueMayTake() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 8);
      MockAM master = cluster.launch("a", node);
      cluster.ask(master, 1024, 16);

      long told = cluster.headroomMib(master);

      assertEquals(4096 - 1024, told, "half of the machine, less the master; nothing is known");
    }
  }

  @Test
  void anApplicationThatAsksForALabelIsToldWhatCapacitySchedulerComputes() throws Exception {
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    String prefix = "yarn.scheduler.capacity.root";
    conf.set(prefix + ".accessible-node-labels.x.capacity", "100");
    conf.set(prefix + ".a.accessible-node-labels", "x");
    conf.set(prefix + ".a.accessible-node-labels.x.capacity", "100");
    conf.set(prefix + ".b.accessible-node-labels.x.capacity", "0");
    try (TestCluster cluster = TestCluster.start(conf)) {
      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton("x"));
      MockNM labelled = cluster.registerReporting("127.0.0.1:2", 8192, 8);
      labels.addLabelsToNode(
          Collections.singletonMap(labelled.getNodeId(), Collections.singleton("x")));
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 8);
      MockAM master = cluster.launch("a", node);
      ResourceRequest ask =
          ResourceRequest.newInstance(
              Priority.newInstance(1), ResourceRequest.ANY, Resource.newInstance(1024, 1), 16);
      ask.setNodeLabelExpression("x");
      master.allocate(Collections.singletonList(ask), Collections.emptyList());
      cluster.resourceManager().drainEvents();

      long told = cluster.headroomMib(master);

      assertTrue(told >= 8192, told + " MiB; all of label x is the queue's");
    }
  }

  private static long usedMib(TestCluster cluster, String queue) {
    CSQueue leaf = cluster.capacityScheduler().getQueue("root." + queue);
    return leaf.getUsedResources().getMemorySize();
  }
}
