package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.protocolrecords.NMContainerStatus;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.MemoryRMStateStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A restarted ResourceManager tells its core which containers run. */
class RecoveryTest {
  @TempDir Path before;
  @TempDir Path after;

  @Test
  void containersThatOutliveTheResourceManagerAreBooked() throws Exception {
    try (TestCluster former = TestCluster.start(recovering(before))) {
      MockNM node = former.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = former.launch("default", node);
      former.ask(master, 1024, 2);
      former.heartbeatUntil("all run", () -> former.containers(master) == 3, node);

      try (TestCluster next =
          TestCluster.start(recovering(after), former.resourceManager().getRMStateStore())) {
        reRegister(node, former.containerIds(master), next);
        assertEquals(3, next.coreStatus().at("/nodes/0/containers").asInt());
        assertEquals(3072L << 20, next.coreStatus().at("/nodes/0/booked_memory_bytes").asLong());

        next.report(node);
        next.raiseSomewhat(node);
        master.setAMRMProtocol(
            next.resourceManager().getApplicationMasterService(),
            next.resourceManager().getRMContext());
        master.registerAppAttempt();
        next.ask(master, 1024, 5);
        for (int i = 0; i < 5; i++) {
          next.heartbeat(node);
        }
        assertEquals(4096, next.allocatedMib(node));
      }
      List<Integer> priorities = new ArrayList<>(Journal.requestPriorities(after).values());
      assertEquals(Arrays.asList(null, 1, 1), priorities.subList(0, 3), "as they were asked for");
    }
  }

  private static Configuration recovering(Path directory) {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    conf.setBoolean(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_ENABLED, true);
    conf.setLong(YarnConfiguration.RM_WORK_PRESERVING_RECOVERY_SCHEDULING_WAIT_MS, 0);
    conf.set(YarnConfiguration.RM_STORE, MemoryRMStateStore.class.getName());
    return conf;
  }

  private static void reRegister(MockNM node, List<ContainerId> running, TestCluster next)
      throws Exception {
    List<NMContainerStatus> reports = new ArrayList<>();
    for (ContainerId container : running) {
      reports.add(
          NMContainerStatus.newInstance(
              container,
              0,
              ContainerState.RUNNING,
              Resource.newInstance(1024, 1),
              "",
              0,
              Priority.newInstance(1),
              System.currentTimeMillis() - 60_000));
    }
    node.setResourceTrackerService(next.resourceManager().getResourceTrackerService());
    node.registerNode(
        reports,
        Collections.singletonList(running.get(0).getApplicationAttemptId().getApplicationId()));
    next.resourceManager().drainEvents();
  }
}
