package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * With lazy preemption, CapacityScheduler kills a marked container in the commit of the container
 * that takes its place. The core has the marked one in its plan until then.
 */
class LazyPreemptionTest {
  @TempDir Path directory;

  @ParameterizedTest(name = "raised {0}")
  @ValueSource(booleans = {false, true})
  void aMarkedContainerMakesRoomForTheQueueThatIsOwed(boolean raised) throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    conf.setBoolean(CapacitySchedulerConfiguration.LAZY_PREEMPTION_ENABLED, true);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM rich = cluster.launch("a", node);
      if (raised) {
        cluster.raiseSomewhat(node);
      }
      cluster.ask(rich, 1024, 3);
      cluster.heartbeatUntil("the node is full", () -> cluster.containers(rich) == 4, node);
      MockNM other = cluster.registerReporting("127.0.0.1:2", 1024, 1);
      MockAM poor = cluster.launch("b", other);
      cluster.ask(poor, 1024, 1);
      cluster.heartbeat(node);
      assertEquals(1, cluster.containers(poor), "there is no room");

      RMContainer victim =
          cluster.capacityScheduler().getRMContainer(cluster.containerIds(rich).get(3));
      cluster.capacityScheduler().markContainerForKillable(victim);
      assertEquals(
          raised ? 0 : 1,
          cluster.schedulerNode(node).getKillableContainers().size(),
          "on a raised node it ends at once");
      cluster.heartbeatUntil("it has its container", () -> cluster.containers(poor) == 2, node);

      assertEquals(3, cluster.containers(rich));
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(0, cluster.metrics().refusedCommitCount());
    }
  }
}
