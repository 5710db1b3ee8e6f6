package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random operations: Elastane decides as CapacityScheduler, or within all limits, and nothing is
 * lost or counted twice. For 10,000 operations with seed 7:
 *
 * <pre>
 * mvn -Dhadoop.version=3.4.3 verify -Dtest=RandomOperationsTest \
 *   -Dsurefire.failIfNoSpecifiedTests=false -Delastane.steps=10000 -Delastane.seed=7
 * </pre>
 *
 * <p>In mode {@code enforce} the same seed may give other containers, because nodes are raised once
 * a second.
 */
class RandomOperationsTest {
  private static final int STEPS = Integer.getInteger("elastane.steps", 300);

  @TempDir Path directory;
  @TempDir Path otherDirectory;

  static long[] seeds() {
    Long seed = Long.getLong("elastane.seed");
    return seed == null ? new long[] {1, 2} : new long[] {seed};
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void observeDecidesAsStock(long seed) throws Exception {
    Configuration stockConf =
        RandomCluster.configuration(CapacityScheduler.class, "off", directory);
    Configuration conf =
        RandomCluster.configuration(ElastaneScheduler.class, "observe", otherDirectory);
    try (TestCluster stock = TestCluster.start(stockConf);
        TestCluster observing = TestCluster.start(conf)) {
      SimulatedAgents agents = new SimulatedAgents(observing, false);
      RandomOperations onStock = new RandomOperations(stock, stockConf, seed, ElastanesPart.NONE);
      RandomOperations onObserving = new RandomOperations(observing, conf, seed, agents);
      Steps steps = new Steps(seed);
      while (steps.next(STEPS)) {
        steps.run(
            () -> {
              steps.does(onStock.step());
              assertEquals(steps.last(), onObserving.step());
              ClusterInvariants.assertSame(
                  containers(stock), containers(observing), "stock's containers and observe's");
              ClusterInvariants.check(stock.capacityScheduler());
              ClusterInvariants.check(observing.capacityScheduler());
              checkElastane(observing, agents);
            });
      }
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void enforceKeepsAllLimits(long seed) throws Exception {
    Configuration conf =
        RandomCluster.configuration(UserLimitCheckingScheduler.class, "enforce", directory);
    PlacementLimits checked;
    try (TestCluster cluster = TestCluster.start(conf)) {
      SimulatedAgents agents = new SimulatedAgents(cluster, true);
      PlacementLimits limits =
          new PlacementLimits((UserLimitCheckingScheduler) cluster.scheduler(), agents);
      checked = limits;
      RandomOperations operations = new RandomOperations(cluster, conf, seed, agents);
      operations.check(limits);
      Steps steps = new Steps(seed);
      while (steps.next(STEPS)) {
        steps.run(
            () -> {
              steps.does(operations.step());
              limits.checkSizes();
              ClusterInvariants.check(cluster.capacityScheduler());
              checkElastane(cluster, agents);
            });
      }
    }
    checked.checkJournal(directory.resolve("decisions.jsonl"));
    // A short run may end before a raised node is full.
    assertTrue(
        STEPS < 1000 || checked.placedAbovePhysical() > 0, "no node was booked above its size");
  }

  static void checkElastane(TestCluster cluster, SimulatedAgents agents) throws Exception {
    assertEquals(0, cluster.metrics().refusedCallCount(), "refused calls");
    assertEquals(0, cluster.metrics().partFailureCount(), "failures of a part");
    assertEquals(agents.failures(), cluster.metrics().coreFailureCount(), "failures of the core");
    if (agents.isInService()) {
      ClusterInvariants.checkCore(cluster);
    }
  }

  /** Every application's containers, but for their ids, its state, and what it waits for. */
  private static Map<String, String> containers(TestCluster cluster) {
    Map<String, String> described = new TreeMap<>();
    for (FiCaSchedulerApp attempt :
        ClusterInvariants.attempts(cluster.capacityScheduler()).values()) {
      StringBuilder live = new StringBuilder();
      attempt.getLiveContainers().stream()
          .map(SimulatedNode::describe)
          .sorted()
          .forEach(container -> live.append(container).append("; "));
      described.put(
          attempt.getApplicationAttemptId().toString(),
          String.format(
              "%s in %s waits for %d, reserved %s",
              live,
              ((CSQueue) attempt.getQueue()).getQueuePath(),
              PendingAsks.of(attempt).getCount(),
              attempt.getCurrentReservation()));
    }
    for (RMApp application : cluster.resourceManager().getRMContext().getRMApps().values()) {
      described.put(
          application.getApplicationId().toString(),
          application.getState() + " " + application.getCurrentAppAttempt().getAppAttemptState());
    }
    return described;
  }
}
