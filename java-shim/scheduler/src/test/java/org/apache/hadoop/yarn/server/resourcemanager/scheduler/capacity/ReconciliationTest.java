package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.natives.Natives;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core books what CapacityScheduler books, whatever happens to a container. */
class ReconciliationTest {
  @TempDir Path directory;

  @Test
  void aContainerThatTheCoreLostIsBookedAgainAndCounted() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = withContainer(cluster, node, 2048);
      Bookings.reconcile(cluster.scheduler());
      assertEquals(0, cluster.metrics().bookingMendedCount());

      cluster.scheduler().link().core().finished(containerOf(cluster, master));
      assertEquals(1024, bookedByCoreMib(cluster));
      Bookings.reconcile(cluster.scheduler());

      assertEquals(3072, bookedByCoreMib(cluster));
      assertEquals(1, cluster.metrics().bookingMendedCount());
      Bookings.reconcile(cluster.scheduler());
      assertEquals(1, cluster.metrics().bookingMendedCount(), "it is mended");
    }
  }

  @Test
  void aContainerThatOnlyTheCoreHasIsForgottenAndCounted() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = cluster.launch("default", node);
      CoreLink link = cluster.scheduler().link();
      int application =
          link.applications().find(master.getApplicationAttemptId().getApplicationId()).number;
      ContainerId ghost = ContainerId.newContainerId(master.getApplicationAttemptId(), 99);
      Natives.commit(
          link.core().handleForTest(),
          ghost.toString(),
          application,
          0,
          false,
          1,
          1024L * 1024L,
          1,
          false,
          System.currentTimeMillis(),
          System.currentTimeMillis());
      Bookings.reconcile(cluster.scheduler());
      assertEquals(1024, bookedByCoreMib(cluster));
      assertEquals(1, cluster.metrics().bookingMendedCount());
    }
  }

  @Test
  void aNodeThatIsNotFoundWhileItIsResizedLosesNoBooking() throws Exception {
    try (TestCluster cluster = TestCluster.start(withHidingNodes())) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      withContainer(cluster, node, 2048);
      HidesNodes scheduler = (HidesNodes) cluster.scheduler();

      scheduler.hiding = true;
      Bookings.reconcile(scheduler);
      Thread.sleep(Reconciliation.APART_MS);
      Bookings.reconcile(scheduler);

      assertEquals(3072, bookedByCoreMib(cluster));
      assertEquals(0, cluster.metrics().bookingMendedCount());
      scheduler.hiding = false;
    }
  }

  @Test
  void aDifferenceOfANodeThatIsNotFoundIsMendedLater() throws Exception {
    try (TestCluster cluster = TestCluster.start(withHidingNodes())) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = withContainer(cluster, node, 2048);
      HidesNodes scheduler = (HidesNodes) cluster.scheduler();
      Reconciliation reconciliation = scheduler.link().reconciliation();
      scheduler.link().core().finished(containerOf(cluster, master));
      reconciliation.checkAll();
      reconciliation.checkAll();
      assertEquals(0, cluster.metrics().bookingMendedCount(), "a second has not passed");

      scheduler.hiding = true;
      Thread.sleep(Reconciliation.APART_MS);
      reconciliation.checkAll();
      assertEquals(1024, bookedByCoreMib(cluster));
      assertEquals(0, cluster.metrics().bookingMendedCount());

      scheduler.hiding = false;
      reconciliation.checkAll();
      assertEquals(3072, bookedByCoreMib(cluster));
      assertEquals(1, cluster.metrics().bookingMendedCount());
    }
  }

  @Test
  void aDifferenceIsCountedBesideAnEarlierOneOnTheSameNode() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = withContainer(cluster, node, 2048);
      CoreLink link = cluster.scheduler().link();
      for (ContainerId container : cluster.containerIds(master)) {
        link.core().finished(container);
        link.reconciliation().checkAll();
      }

      Thread.sleep(Reconciliation.APART_MS);
      link.reconciliation().checkAll();

      assertEquals(3072, bookedByCoreMib(cluster));
      assertEquals(2, cluster.metrics().bookingMendedCount());
    }
  }

  @Test
  void aNodeIsComparedOnceAMinuteAsTheHeartbeatsCome() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = withContainer(cluster, node, 2048);
      cluster.scheduler().link().core().finished(containerOf(cluster, master));
      cluster.heartbeatUntil(
          "it is mended", () -> cluster.metrics().bookingMendedCount() == 1, node);
      assertEquals(3072, bookedByCoreMib(cluster));
    }
  }

  @Test
  void aContainerThatGrowsAndShrinksIsBookedAtItsSize() throws Exception {
    try (TestCluster cluster = TestCluster.start(withPlainNodeNames())) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM master = withContainer(cluster, node, 2048);
      ContainerId id = containerOf(cluster, master);
      node.nodeHeartbeat(
          master.getApplicationAttemptId(), id.getContainerId(), ContainerState.RUNNING);

      resize(master, id, 0, ContainerUpdateType.INCREASE_RESOURCE, 4096);
      awaitUpdate(cluster, master, node);
      cluster.heartbeatUntil(
          "CapacityScheduler has grown it", () -> cluster.allocatedMib(node) == 5120, node);
      assertEquals(5120, bookedByCoreMib(cluster));

      resize(master, id, 1, ContainerUpdateType.DECREASE_RESOURCE, 1024);
      cluster.heartbeatUntil(
          "CapacityScheduler has shrunk it", () -> cluster.allocatedMib(node) == 2048, node);
      assertEquals(2048, bookedByCoreMib(cluster));
    }
  }

  private Configuration withHidingNodes() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, HidesNodes.class, ResourceScheduler.class);
    return conf;
  }

  /** CapacityScheduler looks for the place of an update by the node's host alone. */
  private Configuration withPlainNodeNames() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean("yarn.scheduler.include-port-in-node-name", false);
    return conf;
  }

  private static void resize(
      MockAM master, ContainerId id, int version, ContainerUpdateType type, int memoryMib)
      throws Exception {
    AllocateResponse response =
        master.sendContainerUpdateRequest(
            Collections.singletonList(
                UpdateContainerRequest.newInstance(
                    version, id, type, Resource.newInstance(memoryMib, 1), null)));
    assertTrue(response.getUpdateErrors().isEmpty(), response.getUpdateErrors().toString());
  }

  /** The ApplicationMaster asks until it has an update. */
  private static void awaitUpdate(TestCluster cluster, MockAM master, MockNM node)
      throws Exception {
    cluster.heartbeatUntil(
        "the ApplicationMaster has the update",
        () -> {
          try {
            return !master
                .allocate(Collections.emptyList(), Collections.emptyList())
                .getUpdatedContainers()
                .isEmpty();
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        },
        node);
  }

  /** An application with one container beside its ApplicationMaster of 1 GiB. */
  private static MockAM withContainer(TestCluster cluster, MockNM node, int memoryMib)
      throws Exception {
    MockAM master = cluster.launch("default", node);
    cluster.ask(master, memoryMib, 1);
    cluster.heartbeatUntil("its container runs", () -> cluster.containers(master) == 2, node);
    master.allocate(Collections.emptyList(), Collections.emptyList());
    return master;
  }

  private static ContainerId containerOf(TestCluster cluster, MockAM master) {
    return cluster.containerIds(master).get(1);
  }

  private static long bookedByCoreMib(TestCluster cluster) throws Exception {
    return cluster.coreStatus().get("nodes").get(0).get("booked_memory_bytes").asLong() >> 20;
  }

  /** Finds no node, as beside a thread that resizes it. */
  public static final class HidesNodes extends ElastaneScheduler {
    private volatile boolean hiding;

    @Override
    public FiCaSchedulerNode getNode(NodeId node) {
      return hiding ? null : super.getNode(node);
    }
  }
}
