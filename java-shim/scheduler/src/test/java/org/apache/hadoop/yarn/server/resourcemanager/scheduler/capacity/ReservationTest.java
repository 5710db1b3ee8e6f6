package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
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

/** The core decides about a container for which CapacityScheduler has reserved a node. */
class ReservationTest {
  private static final int ASKED_MIB = 3072;

  @TempDir Path directory;

  private TestCluster cluster;
  private MockNM node;
  private MockAM master;
  private ContainerId reserved;

  /**
   * A node of 4096 MiB whose agent has not reported yet, so that CapacityScheduler decides. A
   * master and two containers of 1024 MiB run there, and the node is reserved for a container of
   * 3072 MiB.
   */
  @BeforeEach
  void reserve() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Recorder.class, ResourceScheduler.class);
    cluster = TestCluster.start(conf);
    node = cluster.register("127.0.0.1:1", 4096, 4);
    // The master sends no heartbeat, but counts for the queue's limit.
    cluster.register("127.0.0.1:2", 4096, 4);
    master = cluster.launch("default", node);
    cluster.ask(master, 1024, 2);
    cluster.heartbeatUntil("both run", () -> cluster.allocatedMib(node) == 3072, node);
    cluster.ask(master, ASKED_MIB, 1);
    cluster.heartbeat(node);
    reserved = reservedContainer();
    assertNotNull(reserved);
    assertEquals(0, cluster.metrics().refusedCommitCount());
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void whatDoesNotFitByDemandGivesItsReservationUpAndTheNodeIsOfferedToOthers() throws Exception {
    MockNM other = cluster.register("127.0.0.1:3", 1024, 1);
    MockAM small = cluster.launch("default", other);
    cluster.ask(small, 256, 1);

    // By request there is room for it, but not by what the agent measures.
    cluster.reportMemory(node, 3328);
    cluster.end(node, master, 2, 3);

    assertEquals(1, cluster.metrics().refusedCommitCount());
    assertNull(reservedContainer());
    assertEquals(0, reservedMib());
    FiCaSchedulerApp attempt = attempt();
    assertEquals(1, attempt.getAppSchedulingInfo().getNextPendingAsk().getCount());
    assertEquals(1024, attempt.getCurrentConsumption().getMemorySize());
    assertEquals(0, attempt.getCurrentReservation().getMemorySize());
    cluster.heartbeat(node);
    cluster.heartbeat(node);
    assertEquals(1024 + 256, cluster.allocatedMib(node), "the small one is placed");
    assertEquals(1, cluster.metrics().refusedCommitCount(), "and the large one not proposed again");
    assertNotNull(reservedContainer(), "now the large one does not fit by request either");
  }

  @Test
  void itIsPlacedOnceItsDemandFits() throws Exception {
    cluster.reportMemory(node, 3328);
    cluster.end(node, master, 2, 3);
    assertEquals(1, cluster.metrics().refusedCommitCount());

    cluster.report(node);
    cluster.heartbeat(node);

    assertEquals(1024 + ASKED_MIB, cluster.allocatedMib(node));
    assertEquals(0, reservedMib());
    assertEquals(2, cluster.coreStatus().at("/nodes/0/containers").asInt());
  }

  @Test
  void theReservationEndsWithItsApplication() throws Exception {
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
  void withoutTheCoreTheReservationIsCapacitySchedulers() throws Exception {
    cluster.reportMemory(node, 3328);
    cluster
        .scheduler()
        .link()
        .guard()
        .takeOutOfService("a test", new IllegalStateException("asked for by a test"));
    cluster.end(node, master, 2, 3);

    assertEquals(1024 + ASKED_MIB, cluster.allocatedMib(node));
    assertTrue(cluster.containerIds(master).contains(reserved));
    assertEquals(0, reservedMib());
  }

  @Test
  void aSecondProposalForTheSameReservationTakesNothingFromTheCore() throws Exception {
    cluster.report(node);
    cluster.end(node, master, 2, 3);
    assertEquals(1024 + ASKED_MIB, cluster.allocatedMib(node));
    assertTrue(cluster.containerIds(master).contains(reserved));
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
