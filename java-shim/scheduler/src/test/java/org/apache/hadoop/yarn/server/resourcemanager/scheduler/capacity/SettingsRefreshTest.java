package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings that change while the ResourceManager runs, as {@code -refreshQueues} changes them. */
class SettingsRefreshTest {
  private static final String MAX_RATIO = ElastaneConfiguration.MAX_RATIO;

  @TempDir Path directory;

  @Test
  void enforceBeginsWithTheApplicationsThatRun() throws Exception {
    Configuration conf = configuration("observe");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 4);
      cluster.foresee(master, 1, 1, 128);
      cluster.letSmallOnesWait(node);
      cluster.heartbeatUntil("the node is full", () -> cluster.allocatedMib(node) == 4096, node);
      assertEquals(4096, cluster.bookableMib(node));
      assertFalse(isOrderedByCore(cluster));

      refresh(cluster, conf, ElastaneConfiguration.MODE, "enforce");

      assertTrue(isOrderedByCore(cluster));
      assertEquals("enforce", cluster.coreStatus().path("mode").asText());
      cluster.heartbeatUntil("the last one runs", () -> cluster.containers(master) == 5, node);
      assertEquals(1, cluster.metrics().placedByCoreCount(), "by the core's order");
      assertTrue(cluster.bookableMib(node) > 4096);
    }
  }

  @Test
  void whoLooksAfterARefreshSeesTheNewModeHoweverLatelyTheyLookedBefore() throws Exception {
    Configuration conf = configuration("observe");
    try (TestCluster cluster = TestCluster.start(conf)) {
      CoreStatus status = cluster.scheduler().link().status();
      for (String mode : Arrays.asList("enforce", "observe", "enforce")) {
        status.snapshot();
        refresh(cluster, conf, ElastaneConfiguration.MODE, mode);
        assertEquals(mode, status.snapshot().path("mode").asText());
      }
    }
  }

  @Test
  void enforceIsLeftWithoutAKillAndNothingGoesAboveTheRegisteredSizeAgain() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);

      refresh(cluster, conf, ElastaneConfiguration.MODE, "observe");
      cluster.ask(master, 1024, 9);
      cluster.heartbeatUntil(
          "the node is back at its registered size", () -> cluster.bookableMib(node) == 4096, node);

      assertEquals(6, cluster.containers(master), "nothing ended");
      PreemptionHoldTest.kill(cluster, master);
      assertEquals(6, cluster.containers(master), "nor does the smaller size end anything");
      long rounds = cluster.metrics().roundCount();
      cluster.end(node, master, 2, 3, 4);
      cluster.heartbeatUntil(
          "the node is filled again", () -> cluster.allocatedMib(node) == 4096, node);
      assertEquals(rounds, cluster.metrics().roundCount(), "the core is asked no more");
      assertFalse(cluster.scheduler().link().settings().isObserveFileThere());

      refresh(cluster, conf, ElastaneConfiguration.MODE, "observe");
      assertFalse(isOrderedByCore(cluster), "CapacityScheduler has its own policies again");

      refresh(cluster, conf, ElastaneConfiguration.MODE, "enforce");
      assertTrue(isOrderedByCore(cluster));
      cluster.report(node);
      cluster.heartbeatUntil("raised again", () -> cluster.allocatedMib(node) > 4096, node);
    }
  }

  @Test
  void aValueThatIsNotAllowedRefreshesNothing() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      Configuration bad = new Configuration(conf);
      TestCluster.queues(bad, "default", "another");
      bad.set(ElastaneConfiguration.MODE, "observe");
      bad.set(MAX_RATIO, "11");

      IOException e =
          assertThrows(
              IOException.class,
              () ->
                  cluster.scheduler().reinitialize(bad, cluster.resourceManager().getRMContext()));

      assertEquals(MAX_RATIO + " is '11', allowed is 1 to 10", e.getMessage());
      assertEquals("enforce", cluster.coreStatus().path("mode").asText());
      assertNull(cluster.scheduler().getQueue("another"));
      assertTrue(isOrderedByCore(cluster));
      cluster.heartbeat(node);
      assertEquals(6144, cluster.bookableMib(node));
    }
  }

  @Test
  void queuesThatAreNotAllowedLeaveTheSettingsAsTheyAre() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      Configuration bad = new Configuration(conf);
      bad.set("yarn.scheduler.capacity.root.default.capacity", "30");
      bad.set(ElastaneConfiguration.MODE, "observe");

      assertThrows(
          IOException.class,
          () -> cluster.scheduler().reinitialize(bad, cluster.resourceManager().getRMContext()));

      assertEquals("enforce", cluster.coreStatus().path("mode").asText());
      assertTrue(isOrderedByCore(cluster));
    }
  }

  @Test
  void aKeyOfTheCoreActsAtOnceAndOneOfAFileAfterARestart() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      conf.set(ElastaneConfiguration.JOURNAL_FILE, directory.resolve("elsewhere").toString());

      refresh(cluster, conf, MAX_RATIO, "1.25");
      cluster.heartbeatUntil("the ceiling is lower", () -> cluster.bookableMib(node) == 5120, node);

      assertFalse(Files.exists(directory.resolve("elsewhere")));
      CoreLink link = cluster.scheduler().link();
      link.recovery().setWaitsForTest(1);
      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
      cluster.heartbeatUntil("a new core is in service", link.guard()::inService, node);
      cluster.letSmallOnesWait(node);
      cluster.report(node);
      cluster.heartbeatUntil(
          "a new core has the ceiling, too", () -> cluster.bookableMib(node) == 5120, node);
      assertFalse(Files.exists(directory.resolve("elsewhere")), "nor opens a new core the file");
    }
  }

  @Test
  void offDecidesNothingAndChecksNoOtherKey() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      conf.set(MAX_RATIO, "much");

      refresh(cluster, conf, ElastaneConfiguration.MODE, "off");

      assertEquals("observe", cluster.coreStatus().path("mode").asText());
    }
  }

  @Test
  void offIsLeftWithACoreThatKnowsWhatRuns() throws Exception {
    Configuration conf = configuration("off");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 5);
      cluster.heartbeatUntil("the node is full", () -> cluster.containers(master) == 4, node);
      assertNull(cluster.scheduler().link());

      refresh(cluster, conf, ElastaneConfiguration.MODE, "enforce");
      CoreLink link = cluster.scheduler().link();
      cluster.heartbeatUntil("a core is in service", link.guard()::inService, node);
      assertEquals(0, cluster.metrics().coreFailureCount());
      assertEquals(4, cluster.coreStatus().at("/nodes/0/containers").asInt());
      assertNotNull(link.activeServices().usageServer(), "agents can report");

      // What ran before is planned by its request.
      cluster.foresee(master, 1, 1, 128);
      cluster.ask(master, 1024, 4);
      cluster.end(node, master, 2, 3);
      cluster.report(node);
      cluster.heartbeatUntil("more than its size runs", () -> cluster.containers(master) > 4, node);
    }
  }

  @Test
  void offStaysWhereTheOtherSettingsAreNotAllowed() throws Exception {
    Configuration conf = configuration("off");
    try (TestCluster cluster = TestCluster.start(conf)) {
      conf.set(MAX_RATIO, "11");

      assertThrows(
          IOException.class, () -> refresh(cluster, conf, ElastaneConfiguration.MODE, "observe"));
      assertNull(cluster.scheduler().link());
    }
  }

  @Test
  void theObserveFileTurnsEverythingToObserveAndItsEndBack() throws Exception {
    Configuration conf = configuration("enforce");
    Path file = directory.resolve("switch");
    conf.set(ElastaneConfiguration.OBSERVE_FILE, file.toString());
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);

      Files.createFile(file);
      cluster.heartbeatUntil("observed", () -> cluster.bookableMib(node) == 4096, node);
      assertEquals(6, cluster.containers(master));
      assertEquals("observe", cluster.coreStatus().path("mode").asText());

      refresh(cluster, conf, ElastaneConfiguration.MODE, "enforce");
      assertEquals("observe", cluster.coreStatus().path("mode").asText(), "a refresh as well");

      Files.delete(file);
      cluster.heartbeatUntil("enforced", () -> isOrderedByCore(cluster), node);
      cluster.report(node);
      cluster.heartbeatUntil("raised again", () -> cluster.bookableMib(node) > 4096, node);
    }
  }

  @Test
  void theObserveFileCountsFromTheStart() throws Exception {
    Files.createDirectory(directory.resolve("elastane"));
    Files.createFile(directory.resolve("elastane").resolve("observe"));
    try (TestCluster cluster = TestCluster.start(configuration("enforce"))) {
      assertEquals("observe", cluster.coreStatus().path("mode").asText());
      assertFalse(isOrderedByCore(cluster));
    }
  }

  @Test
  void aMistakeInTheFileDoesNotKeepAStandbyFromBecomingActive() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      RMContext active = cluster.resourceManager().getRMContext();
      conf.set(ElastaneConfiguration.MODE, "observe");
      conf.set(MAX_RATIO, "11");
      TestCluster.queues(conf, "default", "another");

      for (int attempt = 0; attempt < 2; attempt++) {
        cluster.scheduler().reinitialize(conf, standingBy(active));
      }
      assertNotNull(cluster.scheduler().getQueue("another"), "the queues are those of the file");
      assertEquals("enforce", cluster.coreStatus().path("mode").asText());
      assertTrue(isOrderedByCore(cluster));

      assertThrows(
          IOException.class,
          () -> cluster.scheduler().reinitialize(conf, active),
          "an administrator is told");
    }
  }

  @Test
  void aCoreThatFailedComesBackAfterEnforceWasLeft() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      fill(cluster, node);
      CoreLink link = failAndStayOut(cluster, node);

      refresh(cluster, conf, ElastaneConfiguration.MODE, "observe");

      cluster.heartbeatUntil("a core is in service", link.guard()::inService, node);
      assertEquals("observe", cluster.coreStatus().path("mode").asText());
      assertFalse(isOrderedByCore(cluster));
    }
  }

  @Test
  void applicationsAreOrderedAgainAfterAFailureWhileTheObserveFileWasThere() throws Exception {
    Configuration conf = configuration("enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      Path file = directory.resolve("elastane").resolve("observe");
      Files.createFile(file);
      LiveSettings settings = cluster.scheduler().link().settings();
      cluster.heartbeatUntil("observed", settings::isObserveFileThere, node);
      CoreLink link = cluster.scheduler().link();
      link.recovery().setWaitsForTest(1);
      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
      cluster.heartbeatUntil("a core is in service", link.guard()::inService, node);

      Files.delete(file);
      cluster.heartbeatUntil("enforced", () -> !settings.isObserveFileThere(), node);
      cluster.report(node);
      cluster.ask(master, 1024, 2);
      cluster.heartbeatUntil("both run", () -> cluster.containers(master) == 3, node);
      assertTrue(cluster.metrics().placedByCoreCount() > 0);
    }
  }

  @Test
  void nodesHaveAModeOfTheirOwn() throws Exception {
    Configuration conf = configuration("observe");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM canary = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockNM other = cluster.registerReporting("127.0.0.2:1", 4096, 4);
      MockAM master = cluster.launch("default", other);
      cluster.foresee(master, 1, 1, 128);

      refresh(cluster, conf, ElastaneConfiguration.ENFORCED_NODES, "127.0.0.1");
      assertTrue(isOrderedByCore(cluster));
      cluster.ask(master, 1024, 9);
      cluster.report(canary);
      cluster.report(other);
      cluster.heartbeatUntil(
          "the canary is above its size",
          () -> cluster.allocatedMib(canary) == 6144 && cluster.allocatedMib(other) == 4096,
          canary,
          other);
      assertEquals(4096, cluster.bookableMib(other));

      refresh(cluster, conf, ElastaneConfiguration.MODE, "off");
      cluster.heartbeatUntil("observed", () -> cluster.bookableMib(canary) == 4096, canary);
    }
  }

  /** As a standby's that is about to become active. */
  private static RMContext standingBy(RMContext context) {
    return (RMContext)
        Proxy.newProxyInstance(
            RMContext.class.getClassLoader(),
            new Class<?>[] {RMContext.class},
            (proxy, method, arguments) ->
                method.getName().equals("getHAServiceState")
                    ? HAServiceState.STANDBY
                    : method.invoke(context, arguments));
  }

  /** The core fails, and is not opened again by itself. */
  private static CoreLink failAndStayOut(TestCluster cluster, MockNM node) throws Exception {
    CoreLink link = cluster.scheduler().link();
    link.recovery().setWaitsForTest();
    link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
    cluster.heartbeatUntil("lowered", () -> cluster.bookableMib(node) == 4096, node);
    return link;
  }

  private Configuration configuration(String mode) {
    return TestCluster.configuration(ElastaneScheduler.class, mode, directory);
  }

  static void refresh(TestCluster cluster, Configuration conf, String key, String value)
      throws Exception {
    conf.set(key, value);
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    cluster.resourceManager().drainEvents();
  }

  /** A master with five containers of 1024 MiB that need little, on a node of 4096 MiB. */
  private static MockAM fill(TestCluster cluster, MockNM node) throws Exception {
    MockAM master = cluster.launch("default", node);
    cluster.ask(master, 1024, 5);
    cluster.foresee(master, 1, 1, 128);
    cluster.report(node);
    cluster.heartbeatUntil("all run", () -> cluster.containers(master) == 6, node);
    assertEquals(6144, cluster.allocatedMib(node));
    return master;
  }

  private static boolean isOrderedByCore(TestCluster cluster) {
    CSQueue queue = cluster.scheduler().getQueue("default");
    assertNotNull(queue);
    return new LeafQueuePolicies(path -> null).policyOf(queue) instanceof OrderedByCore;
  }
}
