package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core refuses a container for which CapacityScheduler has reserved a node. */
class ReservationTest {
  private static final int ASKED_MIB = 3072;

  @TempDir Path directory;

  private TestCluster cluster;
  private MockNM node;
  private MockAM master;
  private ContainerId reserved;

  /**
   * A node of 4096 MiB with 6144 MiB bookable. A master and three containers of 1024 MiB, which
   * need half of it, run there, and it is reserved for a container of 3072 MiB. The end of the
   * first container makes room by request, but not by demand.
   */
  @BeforeEach
  void reserve() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.anotherPolicy(conf);
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1.5");
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Recorder.class, ResourceScheduler.class);
    cluster = TestCluster.start(conf);
    node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
    // The master sends no heartbeat, but counts for the queue's limit.
    cluster.register("127.0.0.1:2", 4096, 4);
    master = cluster.launch("default", node);
    cluster.ask(master, 1024, 3);
    cluster.foresee(master, 1, 1, 512);
    cluster.heartbeatUntil("the node is full", () -> cluster.allocatedMib(node) == 4096, node);
    cluster.ask(master, 2, Resource.newInstance(ASKED_MIB, 1), 1);
    cluster.heartbeat(node);
    reserved = reservedContainer();
    assertNotNull(reserved);
    assertEquals(0, cluster.metrics().refusedCommitCount());
    cluster.end(node, master, 2);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void whatDoesNotFitByDemandStaysReservedAndTheNodeIsKeptForIt() throws Exception {
    MockNM other = cluster.registerRaised("127.0.0.1:3", 1024, 1);
    MockAM small = cluster.launch("default", other);
    cluster.ask(small, 256, 1);

    long refused = cluster.metrics().refusedCommitCount();
    cluster.heartbeat(node);
    cluster.heartbeat(node);

    assertEquals(refused + 2, cluster.metrics().refusedCommitCount(), "one for each heartbeat");
    assertEquals(reserved, reservedContainer());
    assertEquals(ASKED_MIB, reservedMib());
    assertEquals(3072, cluster.allocatedMib(node), "nothing else gets what it waits for");
    FiCaSchedulerApp attempt = attempt();
    assertEquals(1, attempt.getAppSchedulingInfo().getNextPendingAsk().getCount());
    assertEquals(3072, attempt.getCurrentConsumption().getMemorySize());
    assertEquals(3, cluster.coreStatus().at("/nodes/0/containers").asInt());
  }

  @Test
  void itIsPlacedOnceItsDemandFits() throws Exception {
    cluster.end(node, master, 3, 4);
    cluster.heartbeatUntil("it is allocated", () -> cluster.allocatedMib(node) == 4096, node);

    assertNull(reservedContainer());
    assertEquals(0, reservedMib());
    assertTrue(cluster.containerIds(master).contains(reserved));
    assertEquals(2, cluster.coreStatus().at("/nodes/0/containers").asInt());
    assertTrue(cluster.metrics().refusedCommitCount() >= 1);
  }

  @Test
  void theReservationEndsWithItsApplication() throws Exception {
    cluster.heartbeat(node);
    cluster.resourceManager().killApp(master.getApplicationAttemptId().getApplicationId());
    cluster.heartbeat(node);

    assertNull(reservedContainer());
    assertEquals(0, reservedMib());
    assertEquals(0, cluster.allocatedMib(node));
    assertEquals(0, cluster.coreStatus().at("/nodes/0/containers").asInt());
    MockAM next = cluster.launch("default", node);
    assertEquals(1, cluster.containers(next), "the node is free for others");
  }

  @Test
  void theReservationEndsWhenTheNodeIsLowered() throws Exception {
    cluster.heartbeat(node);
    cluster
        .scheduler()
        .link()
        .guard()
        .takeOutOfService("a test", new IllegalStateException("asked for by a test"));
    cluster.heartbeatUntil("the node is lowered", () -> cluster.bookableMib(node) == 4096, node);

    assertNotEquals(reserved, reservedContainer());
    cluster.end(node, master, 3, 4);
    cluster.heartbeatUntil("it is allocated", () -> cluster.allocatedMib(node) == 4096, node);
    assertEquals(0, reservedMib());
  }

  @Test
  void aSecondProposalForTheSameReservationTakesNothingFromTheCore() throws Exception {
    cluster.end(node, master, 3, 4);
    cluster.heartbeatUntil("it is allocated", () -> cluster.allocatedMib(node) == 4096, node);
    Recorder scheduler = (Recorder) cluster.scheduler();

    // Two asynchronous scheduling threads may have proposed the same container.
    boolean committed =
        scheduler.tryCommit(scheduler.getClusterResource(), scheduler.outOfReservation, true);

    assertFalse(committed);
    assertEquals(2, cluster.containers(master));
    assertEquals(2, cluster.coreStatus().at("/nodes/0/containers").asInt());
  }

  private ContainerId reservedContainer() {
    return cluster.schedulerNode(node).getReservedContainer() == null
        ? null
        : cluster.schedulerNode(node).getReservedContainer().getContainerId();
  }

  private long reservedMib() {
    return cluster.capacityScheduler().getRootQueueMetrics().getReservedMB();
  }

  private FiCaSchedulerApp attempt() {
    return cluster.scheduler().getApplicationAttempt(master.getApplicationAttemptId());
  }

  /** Keeps the last request to allocate from a reservation. */
  public static final class Recorder extends ElastaneScheduler {
    private ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> outOfReservation;

    @Override
    public ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> createResourceCommitRequest(
        CSAssignment assignment) {
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request =
          super.createResourceCommitRequest(assignment);
      if (assignment.isFulfilledReservation()) {
        outOfReservation = request;
      }
      return request;
    }
  }
}
