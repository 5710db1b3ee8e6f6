package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * In mode {@code enforce}, with nothing predicted, each queue gets as much as CapacityScheduler
 * gives it, once nothing more is placed. All containers have one size, so the order of applications
 * makes no difference to what fits.
 */
class SettledQueuesTest {
  private static final int CONTAINER_MIB = 1024;
  private static final int MOST_APPLICATIONS = 8;
  private static final int MOST_CONTAINERS = 20;
  private static final int ROUNDS = Integer.getInteger("elastane.steps", 300) / 30;

  @TempDir Path directory;
  @TempDir Path otherDirectory;

  static long[] seeds() {
    return RandomOperationsTest.seeds();
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void enforceGivesEachQueueAsMuchAsStock(long seed) throws Exception {
    Configuration stockConf =
        RandomCluster.configuration(CapacityScheduler.class, "off", directory);
    Configuration conf =
        RandomCluster.configuration(UserLimitCheckingScheduler.class, "enforce", otherDirectory);
    try (TestCluster stock = TestCluster.start(stockConf);
        TestCluster enforcing = TestCluster.start(conf)) {
      Side onStock = new Side(stock, false);
      Side onEnforcing = new Side(enforcing, true);
      Random random = new Random(seed);
      Steps steps = new Steps(seed);
      while (steps.next(ROUNDS)) {
        steps.run(
            () -> {
              long round = random.nextLong();
              steps.does(onStock.round(new Random(round)));
              assertEquals(steps.last(), onEnforcing.round(new Random(round)));
              assertEquals(onStock.used(), onEnforcing.used());
              assertEquals(
                  Collections.emptyList(),
                  ((UserLimitCheckingScheduler) enforcing.scheduler()).violations());
              onStock.killAll();
              onEnforcing.killAll();
            });
      }
    }
  }

  /** One of the two clusters. */
  private static final class Side {
    private final TestCluster cluster;
    private final boolean reports;
    private final MockNM[] nodes;
    private final List<ApplicationId> applications = new ArrayList<>();
    private final Map<ApplicationId, MockAM> masters = new HashMap<>();

    Side(TestCluster cluster, boolean reports) throws Exception {
      this.cluster = cluster;
      this.reports = reports;
      int[] sizesGib = {8, 4, 12, 16};
      nodes = new MockNM[sizesGib.length];
      for (int i = 0; i < nodes.length; i++) {
        nodes[i] =
            cluster.register(
                "127.0.0." + (i + 1) + ":1234", sizesGib[i] * CONTAINER_MIB, sizesGib[i]);
      }
    }

    /** Applications are submitted and ask for containers, until nothing more is placed. */
    String round(Random random) throws Exception {
      StringBuilder asked = new StringBuilder();
      int count = 1 + random.nextInt(MOST_APPLICATIONS);
      List<Integer> containers = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String queue = RandomCluster.QUEUES[random.nextInt(RandomCluster.QUEUES.length)];
        String user = RandomCluster.USERS[random.nextInt(RandomCluster.USERS.length)];
        applications.add(
            RandomOperations.submit(cluster, queue, user, CONTAINER_MIB).getApplicationId());
        containers.add(random.nextInt(MOST_CONTAINERS));
        asked.append(String.format("%s in %s asks for %d; ", user, queue, containers.get(i)));
      }
      settle();
      for (int i = 0; i < count; i++) {
        MockAM master = masters.get(applications.get(i));
        if (master != null) {
          cluster.ask(master, CONTAINER_MIB, containers.get(i));
        }
      }
      settle();
      return asked.toString();
    }

    private void settle() throws Exception {
      Map<String, String> before;
      do {
        before = used();
        for (MockNM node : nodes) {
          if (reports) {
            cluster.report(node);
          }
          cluster.heartbeat(node);
        }
        launchMasters();
      } while (!before.equals(used()));
    }

    private void launchMasters() throws Exception {
      for (ApplicationId id : applications) {
        RMAppAttempt attempt = application(id).getCurrentAppAttempt();
        if (attempt.getAppAttemptState() == RMAppAttemptState.ALLOCATED) {
          MockAM master = cluster.resourceManager().sendAMLaunched(attempt.getAppAttemptId());
          master.registerAppAttempt();
          masters.put(id, master);
        }
      }
      cluster.resourceManager().drainEvents();
    }

    void killAll() throws Exception {
      for (ApplicationId id : applications) {
        cluster.resourceManager().killApp(id);
        cluster.resourceManager().drainEvents();
      }
      applications.clear();
      masters.clear();
      settle();
      assertEquals(Resources.none(), cluster.capacityScheduler().getRootQueue().getUsedResources());
    }

    /** What each queue uses, with the number of its active applications. */
    Map<String, String> used() {
      Map<String, String> used = new TreeMap<>();
      for (String queue : RandomCluster.QUEUES) {
        LeafQueue leaf = (LeafQueue) cluster.capacityScheduler().getQueue(queue);
        used.put(queue, leaf.getUsedResources() + " by " + leaf.getNumActiveApplications());
      }
      return used;
    }

    private RMApp application(ApplicationId id) {
      return cluster.resourceManager().getRMContext().getRMApps().get(id);
    }
  }
}
