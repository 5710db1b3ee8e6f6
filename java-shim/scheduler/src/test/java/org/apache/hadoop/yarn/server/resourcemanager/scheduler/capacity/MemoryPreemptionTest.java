package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.PreemptionContainer;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeResourceUpdateEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Containers are preempted because their node is short of memory. */
class MemoryPreemptionTest {
  private static final String WAIT_MS = "1000";

  @TempDir Path directory;

  @ParameterizedTest(name = "lazy preemption {0}")
  @ValueSource(booleans = {false, true})
  void theApplicationMasterIsToldAndThenTheContainerEndsAsPreempted(boolean lazy) throws Exception {
    Configuration conf = configuration("enforce");
    conf.setBoolean(CapacitySchedulerConfiguration.LAZY_PREEMPTION_ENABLED, lazy);
    try (TestCluster cluster = TestCluster.start(conf)) {
      Scene scene = new Scene(cluster);
      ContainerId victim = scene.containers.get(3);

      cluster.report(scene.node, victim);
      scene.heartbeatUntilToldOf(victim);
      assertEquals(4, cluster.containers(scene.master), "it has time to give up its work");

      cluster.heartbeatUntil(
          "it has ended", () -> !cluster.containerIds(scene.master).contains(victim), scene.node);
      ContainerStatus status = scene.endOf(victim);
      assertEquals(ContainerExitStatus.PREEMPTED, status.getExitStatus());
      assertTrue(
          status.getDiagnostics().contains("the node is short of 1073741824 bytes of memory"),
          status.getDiagnostics());
      assertEquals(scene.containers.subList(0, 3), cluster.containerIds(scene.master));
      assertEquals(1, cluster.metrics().memoryPreemptionCount());
      assertEquals(0, cluster.metrics().preemptionHeldBackCount());
      assertEquals(1, cluster.coreStatus().at("/memory_preemptions").asInt());
      String wanted = "{\"about\":\"decisions\",\"kind\":\"preemption\",\"limit\":9}";
      String decisions = cluster.scheduler().link().core().answer(wanted);
      assertTrue(decisions.contains("\"cause\":\"short-of-memory\""), decisions);
      assertFalse(decisions.contains("\"cause\":\"capacity-scheduler\""), decisions);
      assertEquals(3, cluster.coreStatus().at("/nodes/0/containers").asInt());
    }
  }

  @Test
  void aContainerThatFitsTheRegisteredSizeByRequestsIsLeftAlone() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("enforce"))) {
      Scene scene = new Scene(cluster);

      cluster.report(scene.node, scene.containers.get(1));
      assertEquals(1, cluster.coreStatus().at("/refused_memory_victims").asInt());
      cluster.report(scene.node, scene.containers.get(3));
      scene.heartbeatUntilToldOf(scene.containers.get(3));

      assertEquals(Collections.singleton(scene.containers.get(3)), scene.told);
    }
  }

  @Test
  void inObserveNothingIsOrdered() throws Exception {
    assertNotNull(ordersOf("enforce"));
    assertNull(ordersOf("observe"));
  }

  private String ordersOf(String mode) throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration(mode))) {
      Scene scene = new Scene(cluster);
      // No heartbeat in between: the scheduler would ask the core on its own.
      cluster.report(scene.node, scene.containers.get(3));
      return cluster.scheduler().link().core().memoryVictims(0);
    }
  }

  private Configuration configuration(String mode) {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, mode, directory);
    conf.set(CapacitySchedulerConfiguration.PREEMPTION_WAIT_TIME_BEFORE_KILL, WAIT_MS);
    return conf;
  }

  /**
   * A node of 2 GiB with a master and three containers of 1 GiB; the last two are overcommitted.
   */
  private static final class Scene {
    private final TestCluster cluster;
    private final MockNM node;
    private final MockAM master;
    private final List<ContainerId> containers;
    private final Set<ContainerId> told = new HashSet<>();
    private final List<ContainerStatus> ended = new ArrayList<>();

    Scene(TestCluster cluster) throws Exception {
      this.cluster = cluster;
      node = cluster.register("127.0.0.1:1", 4096, 4);
      master = cluster.launch("default", node);
      cluster.ask(master, 1024, 3);
      cluster.heartbeatUntil("all run", () -> cluster.containers(master) == 4, node);
      hear();
      for (int container = 2; container <= 4; container++) {
        node.nodeHeartbeat(master.getApplicationAttemptId(), container, ContainerState.RUNNING);
      }
      containers = cluster.containerIds(master);
      cluster
          .resourceManager()
          .getRMContext()
          .getDispatcher()
          .getEventHandler()
          .handle(
              new RMNodeResourceUpdateEvent(
                  node.getNodeId(), ResourceOption.newInstance(Resource.newInstance(2048, 2), -1)));
      cluster.resourceManager().drainEvents();
    }

    void heartbeatUntilToldOf(ContainerId container) throws Exception {
      cluster.heartbeatUntil("the master is told of " + container, () -> isToldOf(container), node);
    }

    private boolean isToldOf(ContainerId container) {
      hear();
      return told.contains(container);
    }

    ContainerStatus endOf(ContainerId container) throws Exception {
      cluster.heartbeatUntil("the master hears of its end", () -> find(container) != null, node);
      return find(container);
    }

    private ContainerStatus find(ContainerId container) {
      hear();
      for (ContainerStatus status : ended) {
        if (status.getContainerId().equals(container)) {
          return status;
        }
      }
      return null;
    }

    /** The master's heartbeat: asks for nothing and receives messages. */
    private void hear() {
      AllocateResponse response;
      try {
        response = master.allocate(Collections.emptyList(), Collections.emptyList());
      } catch (Exception e) {
        throw new IllegalStateException("the ResourceManager does not answer", e);
      }
      ended.addAll(response.getCompletedContainersStatuses());
      if (response.getPreemptionMessage() != null) {
        for (PreemptionContainer container :
            response.getPreemptionMessage().getContract().getContainers()) {
          told.add(container.getId());
        }
      }
    }
  }
}
