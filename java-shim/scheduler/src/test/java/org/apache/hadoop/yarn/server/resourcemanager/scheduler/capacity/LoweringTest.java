package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.elastane.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** After a failure, no thread places a container on a node that is still raised. */
class LoweringTest {
  /** Of an event: before its round, and of the node on which it places a container. */
  private static final int MOST_RESIZES = NodeResizes.RESIZES_IN_CALL + 1;

  @TempDir Path directory;

  @Test
  void aSecondThreadPlacesNothingAboveTheRegisteredSizeWhileTheFirstWaitsToLower()
      throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);
      ElastaneScheduler scheduler = cluster.scheduler();
      takeOutOfService(cluster);
      NodeUpdateSchedulerEvent heartbeat =
          new NodeUpdateSchedulerEvent(cluster.schedulerNode(node).getRMNode());
      Thread first = new Thread(() -> scheduler.handle(heartbeat), "first");

      scheduler.schedulerLock().lock();
      try {
        first.start();
        Await.until("the first waits", () -> first.getState() == Thread.State.WAITING);
        allocate(cluster, node, 8);
      } finally {
        scheduler.schedulerLock().unlock();
      }
      first.join(TimeUnit.SECONDS.toMillis(20));

      assertFalse(first.isAlive());
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(4096, cluster.bookableMib(node));
    }
  }

  @Test
  void theCommitInWhichOurPartFailsIsNotAboveTheRegisteredSize() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, FailsInACommit.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 3);
      cluster.foresee(master, 1, 1, 512);
      cluster.heartbeatUntil("the node is full", () -> cluster.allocatedMib(node) == 4096, node);
      cluster.ask(master, 1024, 1);
      assertTrue(cluster.bookableMib(node) > 4096);

      cluster.scheduler().link().recovery().setWaitsForTest();
      ((FailsInACommit) cluster.scheduler()).failing = true;
      allocate(cluster, node, 1);

      assertFalse(cluster.scheduler().link().guard().inService());
      assertEquals(4096, cluster.allocatedMib(node));
    }
  }

  @Test
  void oneNodeThatCannotBeLoweredKeepsNoOtherRaisedAndIsTriedAgain() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Stubborn.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM[] nodes = new MockNM[4];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = cluster.registerRaised("127.0.0.1:" + (i + 1), 4096, 4);
      }
      Stubborn scheduler = (Stubborn) cluster.scheduler();
      LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(NodeResizes.class));
      try {
        scheduler.refuseTheNextNode = true;
        takeOutOfService(cluster);
        long failures = cluster.metrics().partFailureCount();

        cluster.heartbeat(nodes);

        assertEquals(1, raised(cluster, nodes), "all but the one that throws");
        long after = cluster.metrics().partFailureCount();
        assertTrue(after > failures, "it is counted");

        cluster.heartbeat(nodes);
        assertTrue(cluster.metrics().partFailureCount() > after, "it was tried again");
        assertEquals(
            1,
            log.getOutput().lines().filter(line -> line.contains("cannot be resized")).count(),
            log.getOutput());

        scheduler.refuseTheNextNode = false;
        scheduler.refused = null;
        cluster.heartbeat(nodes);
        assertEquals(0, raised(cluster, nodes));
        long done = cluster.metrics().partFailureCount();
        cluster.heartbeat(nodes);
        assertEquals(done, cluster.metrics().partFailureCount(), "there is nothing left to do");
      } finally {
        log.stopCapturing();
      }
    }
  }

  @Test
  void manyNodesAreLoweredAFewAtEachEventAndNothingIsPlacedOnThoseStillRaised() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CountsResizes.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM[] nodes = new MockNM[60];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = cluster.register("127.0.0." + (i + 1) + ":1", 4096, 4);
      }
      MockAM master = cluster.launch("default", nodes[0]);
      for (MockNM node : nodes) {
        cluster.report(node);
      }
      cluster.letSmallOnesWait(nodes[0]);
      cluster.heartbeatUntil("all are raised", () -> raised(cluster, nodes) == nodes.length, nodes);
      cluster.ask(master, 1024, 1000);
      CountsResizes scheduler = (CountsResizes) cluster.scheduler();
      assertTrue(
          scheduler.most <= MOST_RESIZES, scheduler.most + " nodes were raised by one event");

      takeOutOfService(cluster);
      cluster.scheduler().handle(new NodeUpdateSchedulerEvent(rmNode(cluster, nodes[0])));
      long raisedThen = raised(cluster, nodes);
      for (MockNM node : nodes) {
        allocate(cluster, node, 8);
      }

      assertTrue(
          raisedThen >= nodes.length - MOST_RESIZES,
          raisedThen + " nodes were left raised by the first event");
      for (MockNM node : nodes) {
        assertTrue(
            cluster.allocatedMib(node) <= 4096,
            node.getNodeId() + " has " + cluster.allocatedMib(node));
      }
      cluster.heartbeatUntil("all are lowered", () -> raised(cluster, nodes) == 0, nodes);
      assertTrue(
          scheduler.most <= MOST_RESIZES, scheduler.most + " nodes were lowered by one event");
      assertFalse(scheduler.resizedBesideEvents, "the event thread would not find the nodes");
    }
  }

  @Test
  void slowResizesEndTheHoldBeforeTheBatchIsFull() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CountsResizes.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM[] nodes = new MockNM[4];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = cluster.registerRaised("127.0.0." + (i + 1) + ":1", 4096, 4);
      }
      CountsResizes scheduler = (CountsResizes) cluster.scheduler();
      scheduler.resizeNs = TimeUnit.MILLISECONDS.toNanos(20);

      takeOutOfService(cluster);
      cluster.scheduler().handle(new NodeUpdateSchedulerEvent(rmNode(cluster, nodes[0])));

      assertEquals(3, raised(cluster, nodes), "of 4 nodes, after a hold of one resize");
    }
  }

  @Test
  void nothingIsPlacedOnSilentNodesThatAreStillToBeLowered() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.report.missed", "2");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM[] nodes = new MockNM[60];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] = cluster.register("127.0.0." + (i + 1) + ":1", 4096, 4);
      }
      MockAM master = cluster.launch("default", nodes[0]);
      cluster.letSmallOnesWait(nodes[0]);
      cluster.heartbeatUntil(
          "all are raised",
          () -> {
            reportAll(cluster, nodes);
            return raised(cluster, nodes) == nodes.length;
          },
          nodes);
      cluster.ask(master, 1024, 1000);

      Await.until(
          "the first of the silent nodes are lowered",
          () -> {
            cluster.scheduler().handle(new NodeUpdateSchedulerEvent(rmNode(cluster, nodes[0])));
            return raised(cluster, nodes) <= nodes.length - 20;
          });
      long raisedThen = raised(cluster, nodes);
      for (MockNM node : nodes) {
        allocate(cluster, node, 8);
      }

      assertTrue(
          raisedThen >= nodes.length - 19 - MOST_RESIZES, raisedThen + " nodes were left raised");
      for (MockNM node : nodes) {
        assertEquals(4096, cluster.allocatedMib(node), "on " + node.getNodeId());
      }
    }
  }

  private static void reportAll(TestCluster cluster, MockNM[] nodes) {
    try {
      for (MockNM node : nodes) {
        cluster.report(node);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RMNode rmNode(TestCluster cluster, MockNM node) {
    return cluster.resourceManager().getRMContext().getRMNodes().get(node.getNodeId());
  }

  private static long raised(TestCluster cluster, MockNM[] nodes) {
    return Arrays.stream(nodes).filter(node -> cluster.bookableMib(node) > 4096).count();
  }

  private static void takeOutOfService(TestCluster cluster) {
    cluster.scheduler().link().recovery().setWaitsForTest();
    cluster
        .scheduler()
        .link()
        .guard()
        .takeOutOfService("a test", new IllegalStateException("asked for by a test"));
  }

  /** Schedules as an asynchronous scheduling thread does, without an event. */
  private static void allocate(TestCluster cluster, MockNM node, int times) {
    for (int i = 0; i < times; i++) {
      cluster
          .scheduler()
          .allocateContainersToNode(
              new SimpleCandidateNodeSet<>(cluster.schedulerNode(node)), true);
    }
  }

  /** Proposes a container that throws while it is announced to the core. */
  public static final class FailsInACommit extends ElastaneScheduler {
    private boolean failing;

    @Override
    public ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> createResourceCommitRequest(
        CSAssignment assignment) {
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request =
          super.createResourceCommitRequest(assignment);
      return failing && request != null ? new FailingOnce(request) : request;
    }
  }

  private static final class FailingOnce
      extends ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> {
    private boolean failed;

    FailingOnce(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
      super(
          request.getContainersToAllocate(),
          request.getContainersToReserve(),
          request.getContainersToRelease());
    }

    @Override
    public List<ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode>>
        getContainersToAllocate() {
      if (!failed) {
        failed = true;
        throw new IllegalStateException("asked for by a test");
      }
      return super.getContainersToAllocate();
    }
  }

  /** Counts the resizes of an event; each takes a given time. */
  public static final class CountsResizes extends ElastaneScheduler {
    private volatile int most;
    private volatile long resizeNs;
    private volatile boolean resizedBesideEvents;
    private int resizes;

    @Override
    public void handle(SchedulerEvent event) {
      resizes = 0;
      super.handle(event);
      most = Math.max(most, resizes);
    }

    @Override
    public void updateNodeResource(RMNode node, ResourceOption size) {
      resizes++;
      resizedBesideEvents |= Thread.currentThread().getName().contains("housekeeping");
      long beganNs = System.nanoTime();
      while (System.nanoTime() - beganNs < resizeNs) {
        Thread.onSpinWait();
      }
      super.updateNodeResource(node, size);
    }
  }

  /** Fails to resize the first node. */
  public static final class Stubborn extends ElastaneScheduler {
    private volatile boolean refuseTheNextNode;
    private volatile NodeId refused;

    @Override
    public void updateNodeResource(RMNode node, ResourceOption size) {
      if (refuseTheNextNode && (refused == null || refused.equals(node.getNodeID()))) {
        refused = node.getNodeID();
        throw new IllegalArgumentException("refused by a test");
      }
      super.updateNodeResource(node, size);
    }
  }
}
