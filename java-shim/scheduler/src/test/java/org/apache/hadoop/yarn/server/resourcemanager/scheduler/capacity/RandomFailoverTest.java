package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.event.EventHandler;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManager;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random operations, and now and then another ResourceManager becomes active. */
class RandomFailoverTest {
  private static final int STEPS = Integer.getInteger("elastane.steps", 300);
  private static final int STEPS_OF_ONE = Math.max(100, STEPS / 20);

  @TempDir Path directory;

  static long[] seeds() {
    return new long[] {RandomOperationsTest.seeds()[0]};
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void nothingIsLostWhenAnotherResourceManagerTakesOver(long seed) throws Exception {
    Configuration conf = RandomCluster.configuration(ElastaneScheduler.class, "enforce", directory);
    conf.setBoolean(YarnConfiguration.RECOVERY_ENABLED, true);
    conf.set(YarnConfiguration.RM_STORE, SynchronousStore.class.getName());
    conf.set(
        YarnConfiguration.FS_RM_STATE_STORE_URI, directory.resolve("state").toUri().toString());
    Steps steps = new Steps(seed);
    TestCluster cluster = TestCluster.start(conf);
    try {
      SimulatedAgents agents = new SimulatedAgents(cluster, true);
      RandomOperations operations = new RandomOperations(cluster, conf, seed, agents);
      while (steps.next(STEPS)) {
        if (steps.count() % STEPS_OF_ONE == 0) {
          CapacityScheduler former = cluster.capacityScheduler();
          cluster.close();
          NextProcess.starts();
          cluster = TestCluster.start(conf);
          agents.resourceManager(cluster);
          operations.failOver(cluster, former);
          steps.does("another ResourceManager takes over");
        }
        step(steps, operations, cluster, agents);
      }
    } finally {
      cluster.close();
    }
  }

  private static void step(
      Steps steps, RandomOperations operations, TestCluster cluster, SimulatedAgents agents) {
    steps.run(
        () -> {
          steps.does(operations.step());
          ClusterInvariants.check(cluster.capacityScheduler());
          RandomOperationsTest.checkElastane(cluster, agents);
        });
  }

  /** The next process has another start time, so its applications have other ids. */
  private static final class NextProcess extends MockRM {
    static void starts() {
      setClusterTimeStamp(ResourceManager.getClusterTimeStamp() + 1);
    }
  }

  /** Writes on the thread that asks, so nothing is left to do once the events are drained. */
  public static final class SynchronousStore extends FileSystemRMStateStore {
    @Override
    @SuppressWarnings("rawtypes") // as the superclass declares it
    protected EventHandler getRMStateStoreEventHandler() {
      return rmStateStoreEventHandler;
    }
  }
}
