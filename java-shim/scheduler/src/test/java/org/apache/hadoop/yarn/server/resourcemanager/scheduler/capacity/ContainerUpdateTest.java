package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerUpdateType;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.UpdateContainerRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.elastane.Await;
import org.elastane.natives.NativesForTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core books a running container as CapacityScheduler does, whatever becomes of it. */
class ContainerUpdateTest {
  private static final int EXECUTOR = 2;

  @TempDir Path directory;

  private Configuration conf;
  private TestCluster cluster;
  private MockNM node;
  private MockAM master;

  @BeforeEach
  void oneExecutorRuns() throws Exception {
    conf = TestCluster.enforcing(directory);
    // CapacityScheduler looks for the container's node by its host.
    conf.setBoolean(YarnConfiguration.RM_SCHEDULER_INCLUDE_PORT_IN_NODE_NAME, false);
    conf.setBoolean(YarnConfiguration.OPPORTUNISTIC_CONTAINER_ALLOCATION_ENABLED, true);
    // With opportunistic containers Hadoop 3.5's MockRM listens.
    conf.set(YarnConfiguration.RM_SCHEDULER_ADDRESS, "127.0.0.1:0");
    cluster = TestCluster.start(conf);
    node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
    master = cluster.launch("default", node);
    cluster.ask(master, 1024, 1);
    cluster.heartbeatUntil("it is placed", () -> cluster.containers(master) == 2, node);
    receive();
    node.nodeHeartbeat(master.getApplicationAttemptId(), EXECUTOR, ContainerState.RUNNING);
    cluster.resourceManager().drainEvents();
    assertBooked(2, 2048);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void aDemotedContainerBooksNothingAndAPromotedOneItsSizeOnce() throws Exception {
    update(ContainerUpdateType.DEMOTE_EXECUTION_TYPE, null, ExecutionType.OPPORTUNISTIC);
    assertBooked(1, 1024);

    promote();
    assertBooked(2, 2048);

    cluster.end(node, master, EXECUTOR);
    assertBooked(1, 1024);
  }

  @Test
  void aResizedContainerBooksItsNewSize() throws Exception {
    update(ContainerUpdateType.INCREASE_RESOURCE, Resource.newInstance(1536, 1), null);
    cluster.heartbeat(node);
    receive();
    assertBooked(2, 2560);

    update(ContainerUpdateType.DECREASE_RESOURCE, Resource.newInstance(512, 1), null);
    assertBooked(2, 1536);
  }

  @Test
  void aReleasedContainerThatStillRunsIsNotBookedByTheNextCore() throws Exception {
    master.allocate(Collections.emptyList(), Collections.singletonList(executor()));
    cluster.resourceManager().drainEvents();
    assertEquals(2, cluster.schedulerNode(node).getNumContainers(), "it still runs");

    CoreLink link = cluster.scheduler().link();
    link.recovery().setWaitsForTest();
    link.guard().run("a test", () -> NativesForTest.panic(link.core().handleForTest()));
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    Await.until("the next core is in service", link.guard()::inService);
    assertEquals(1, cluster.coreStatus().at("/nodes/0/containers").asInt());

    cluster.end(node, master, EXECUTOR);
    assertBooked(1, 1024);
  }

  private void promote() throws Exception {
    update(ContainerUpdateType.PROMOTE_EXECUTION_TYPE, null, ExecutionType.GUARANTEED);
    RMContainer executor = cluster.scheduler().getRMContainer(executor());
    cluster.heartbeatUntil(
        "it is promoted",
        () -> {
          receive();
          return executor.getExecutionType() == ExecutionType.GUARANTEED;
        },
        node);
  }

  private void update(ContainerUpdateType type, Resource size, ExecutionType execution)
      throws Exception {
    RMContainer executor = cluster.scheduler().getRMContainer(executor());
    assertEquals(RMContainerState.RUNNING, executor.getState());
    master.sendContainerUpdateRequest(
        Collections.singletonList(
            UpdateContainerRequest.newInstance(
                executor.getContainer().getVersion(), executor(), type, size, execution)));
    cluster.resourceManager().drainEvents();
  }

  private ContainerId executor() {
    return ContainerId.newContainerId(master.getApplicationAttemptId(), EXECUTOR);
  }

  /** The ApplicationMaster is told of its containers. */
  private void receive() {
    try {
      master.allocate(Collections.emptyList(), Collections.emptyList());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    cluster.resourceManager().drainEvents();
  }

  /** By the scheduler, and by the core. */
  private void assertBooked(int containers, int memoryMib) throws Exception {
    assertEquals(containers, cluster.schedulerNode(node).getNumContainers());
    assertEquals(memoryMib, cluster.allocatedMib(node));
    assertEquals(containers, cluster.coreStatus().at("/nodes/0/containers").asInt(), "the core's");
    assertEquals(memoryMib, cluster.coreStatus().at("/nodes/0/booked_memory_bytes").asLong() >> 20);
  }
}
