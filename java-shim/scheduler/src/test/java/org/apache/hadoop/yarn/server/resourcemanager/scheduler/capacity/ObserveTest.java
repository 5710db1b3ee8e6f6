package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Modes observe and advise: the core is told of each change, and the scheduler acts as
 * CapacityScheduler.
 */
class ObserveTest {
  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"observe", "advise"})
  void everyHeartbeatEndsAsCapacitySchedulers(String mode) throws Exception {
    assertEquals(
        allocations(CapacityScheduler.class, "off"), allocations(ElastaneScheduler.class, mode));
  }

  @ParameterizedTest
  @ValueSource(strings = {"observe", "advise"})
  void theCoreIsToldAndNoNodeIsRaised(String mode) throws Exception {
    try (TestCluster cluster =
        TestCluster.start(TestCluster.configuration(ElastaneScheduler.class, mode, directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      cluster.report(node);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);
      for (int i = 0; i < 8; i++) {
        cluster.heartbeat(node);
      }

      assertEquals(mode, cluster.coreStatus().at("/mode").asText());
      assertEquals(4, cluster.coreStatus().at("/nodes/0/containers").asInt());
      assertEquals(5, cluster.coreStatus().at("/waiting/0/containers").asInt());
      assertEquals(4096, cluster.bookableMib(node));
      assertEquals(0, cluster.metrics().roundCount());
      assertEquals(0, cluster.metrics().refusedCommitCount());
    }
  }

  /** The running containers after each heartbeat of a scenario with large and small asks. */
  private List<String> allocations(Class<? extends ResourceScheduler> scheduler, String mode)
      throws Exception {
    List<String> allocations = new ArrayList<>();
    try (TestCluster cluster =
        TestCluster.start(TestCluster.configuration(scheduler, mode, directory))) {
      MockNM one = cluster.register("127.0.0.1:1", 4096, 4);
      MockNM other = cluster.register("127.0.0.1:2", 8192, 8);
      MockAM first = cluster.launch("default", one);
      MockAM second = cluster.launch("default", other);
      cluster.ask(first, Resource.newInstance(3584, 2), 2);
      cluster.ask(second, Resource.newInstance(512, 1), 6);
      for (int i = 0; i < 8; i++) {
        for (MockNM node : new MockNM[] {one, other}) {
          cluster.heartbeat(node);
          allocations.add(
              "first "
                  + cluster.containers(first)
                  + ", second "
                  + cluster.containers(second)
                  + ", one "
                  + cluster.schedulerNode(one).getAllocatedResource()
                  + ", other "
                  + cluster.schedulerNode(other).getAllocatedResource()
                  + ", reserved "
                  + (cluster.schedulerNode(node).getReservedContainer() != null));
        }
      }
    }
    return allocations;
  }
}
