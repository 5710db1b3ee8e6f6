package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeResourceUpdateEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SchedulerNodes are raised and lowered, and no container is killed by that. */
class BookableCapacityTest {
  private static final int NO_TIME_OUT = -1;

  @TempDir Path directory;

  @Test
  void aNodeIsRaisedWhileItsAgentReportsAndGoesBackWhenItDoesNot() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.report.missed", "2");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      assertEquals(Resource.newInstance(6144, 6), cluster.schedulerNode(node).getTotalResource());
      assertEquals(
          Resource.newInstance(4096, 4),
          cluster.schedulerNode(node).getRMNode().getTotalCapability());

      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);
      // No more reports arrive.
      cluster.heartbeatUntil(
          "the node is back at its registered size", () -> cluster.bookableMib(node) == 4096, node);
      assertEquals(4096, cluster.allocatedMib(node), "not above the physical size at any time");
      assertFalse(cluster.schedulerNode(node).isOvercommitTimeOutSet());
    }
  }

  @Test
  void theRatioHoldsWhenTheAdministratorChangesTheSize() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);

      resize(cluster, node, Resource.newInstance(6144, 6), NO_TIME_OUT);

      assertEquals(Resource.newInstance(9216, 9), cluster.schedulerNode(node).getTotalResource());
      assertEquals(
          6144L << 20, cluster.coreStatus().at("/nodes/0/registered_memory_bytes").asLong());
    }
  }

  @Test
  void anAdministratorsTimeOutOnARaisedNodeEndsWhatIsAboveTheNewSize() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 3);
      cluster.heartbeatUntil("all run", () -> cluster.allocatedMib(node) == 4096, node);

      resize(cluster, node, Resource.newInstance(2048, 2), 0);
      cluster.heartbeatUntil("what is above ends", () -> cluster.allocatedMib(node) <= 2048, node);

      assertEquals(2048, cluster.bookableMib(node));
      assertEquals(0, cluster.metrics().preemptionHeldBackCount());
    }
  }

  @Test
  void aTimeOutThatEndsNothingDoesNotKeepTheNodeFromBeingRaised() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);

      resize(cluster, node, Resource.newInstance(2048, 2), 600_000);

      assertFalse(cluster.schedulerNode(node).isOvercommitTimeOutSet());
      assertEquals(3072, cluster.bookableMib(node));
    }
  }

  @Test
  void aTimeOutOnANodeThatWasNeverRaisedIsCapacitySchedulersAndTheNodeStaysAsItIs()
      throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 3);
      cluster.foresee(master, 1, 1, 128);
      cluster.heartbeatUntil("all run", () -> cluster.allocatedMib(node) == 4096, node);

      resize(cluster, node, Resource.newInstance(2048, 2), 600_000);
      assertTrue(cluster.schedulerNode(node).isOvercommitTimeOutSet());

      cluster.letSmallOnesWait(node);
      cluster.report(node);
      cluster.heartbeatUntil(
          "the core would have the node raised", () -> ratioInCore(cluster) > 1, node);
      assertEquals(2048, cluster.bookableMib(node));
    }
  }

  @Test
  void aDecommissioningNodeIsNotRaisedAndComesBackRaisedWithoutATimeOut() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.letSmallOnesWait(node);
      // A node without a running application would be decommissioned at once.
      node.nodeHeartbeat(master.getApplicationAttemptId(), 1, ContainerState.RUNNING);
      cluster.resourceManager().sendNodeGracefulDecommission(node, 600);
      cluster.resourceManager().waitForState(node.getNodeId(), NodeState.DECOMMISSIONING);

      cluster.report(node);
      cluster.heartbeatUntil(
          "the core would have the node raised", () -> ratioInCore(cluster) == 1.5, node);
      assertEquals(1024, cluster.bookableMib(node));
      assertFalse(cluster.schedulerNode(node).isOvercommitTimeOutSet());

      cluster.resourceManager().sendNodeEvent(node, RMNodeEventType.RECOMMISSION);
      cluster.resourceManager().waitForState(node.getNodeId(), NodeState.RUNNING);
      cluster.resourceManager().drainEvents();
      // The core's last answer may still have to be taken over, which heartbeats do.
      cluster.heartbeatUntil("the node is raised", () -> cluster.bookableMib(node) == 6144, node);
      assertFalse(cluster.schedulerNode(node).isOvercommitTimeOutSet());
      assertEquals(1, cluster.containers(master));
    }
  }

  private static double ratioInCore(TestCluster cluster) {
    try {
      return cluster.coreStatus().at("/nodes/0/bookable_memory_ratio").asDouble();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Changes a size as {@code yarn rmadmin -updateNodeResource} does. */
  private static void resize(TestCluster cluster, MockNM node, Resource size, int timeOutMs) {
    cluster
        .resourceManager()
        .getRMContext()
        .getDispatcher()
        .getEventHandler()
        .handle(
            new RMNodeResourceUpdateEvent(
                node.getNodeId(), ResourceOption.newInstance(size, timeOutMs)));
    cluster.resourceManager().drainEvents();
  }
}
