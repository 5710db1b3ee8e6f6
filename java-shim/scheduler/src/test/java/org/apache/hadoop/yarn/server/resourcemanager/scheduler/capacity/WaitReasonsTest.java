package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.ActivityDiagnosticConstant;
import org.elastane.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an application's diagnostics and activities say while it waits. */
class WaitReasonsTest {
  @TempDir Path directory;

  @Test
  void aMasterThatDoesNotFitByDemandIsToldSo() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      fill(cluster, node);
      RMApp waiting = cluster.submit("default");
      awaitReason(cluster, node, waiting, "elastane");

      reasons(cluster).tellDiagnostics();

      String told = waiting.getDiagnostics().toString();
      assertTrue(told.contains("Application is Activated"), told);
      assertTrue(told.contains(" Elastane: 127.0.0.1:1: memory"), told);
    }
  }

  @Test
  void aMasterForWhichModeObserveRaisesNoNodeIsToldSo() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      RMApp waiting = observedOnAFullNode(cluster);

      reasons(cluster).tellDiagnostics();

      String told = waiting.getDiagnostics().toString();
      assertTrue(told.contains(" Elastane: all nodes are booked: "), told);
      assertTrue(told.contains("in mode observe, set by its tag elastane.mode"), told);
    }
  }

  @Test
  void aMasterThatCapacitySchedulerHoldsKeepsItsReasonAndHasSinceAndUntilWhen() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "0.25");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      cluster.launch("default", node);
      RMApp held = cluster.submit("default");
      awaitReason(cluster, node, held, "capacity-scheduler");
      ObjectNode status = cluster.scheduler().link().status().snapshot().deepCopy();
      ObjectNode entry = (ObjectNode) entry(status, held);
      entry.putNull("expected_start");
      entry.put("for_ms", 7_400);
      WaitReasons reasons = new WaitReasons(cluster.scheduler(), () -> status);
      String since = " Elastane: waits for 7 s.";
      AtomicReference<String> told = new AtomicReference<>();
      awaitDiagnostics(
          held,
          reasons,
          words -> {
            told.set(words);
            return words.endsWith(since);
          });
      String without = told.get().substring(0, told.get().length() - since.length());
      assertTrue(without.contains("AM resource limit exceeded"), without);

      for (int seconds : new int[] {42, 40}) {
        entry.putObject("expected_start").put("in_ms", seconds * 1000).put("is_rough", true);
        String expected =
            without
                + " Elastane: waits for 7 s, and is expected to start in very roughly "
                + seconds
                + " s.";
        awaitDiagnostics(held, reasons, expected::equals);
      }
      assertEquals(without, WaitReasons.capacitySchedulerSays(entry, held));

      // As while the core is out of service.
      status.removeAll();
      reasons.tellDiagnostics();
      assertEquals(without, held.getDiagnostics().toString());
    }
  }

  @Test
  void anotherApplicationIsNotNamed() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      fill(cluster, node);
      RMApp waiting = cluster.submit("default");
      awaitReason(cluster, node, waiting, "elastane");
      ObjectNode status = cluster.scheduler().link().status().snapshot().deepCopy();
      ObjectNode entry = (ObjectNode) entry(status, waiting);
      entry.put("reason", "it would delay the planned start of application_7_0009");
      entry.put("for_ms", 7_400);
      entry.putObject("expected_start").put("in_ms", 42_500).put("is_rough", false);

      WaitReasons reasons = new WaitReasons(cluster.scheduler(), () -> status);
      String expected =
          "it would delay the planned start of another application; waits for 7 s, and is expected"
              + " to start in about 42 s.";
      awaitDiagnostics(waiting, reasons, told -> told.contains(expected));
    }
  }

  /** The scheduler's own thread may say what is true between the two. */
  private static void awaitDiagnostics(
      RMApp application, WaitReasons reasons, Predicate<String> expected)
      throws InterruptedException {
    Await.until(
        "the diagnostics",
        () -> {
          reasons.tellDiagnostics();
          return expected.test(application.getDiagnostics().toString());
        });
  }

  @Test
  void whoAsksForItsActivitiesIsToldWhyItWaits() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      fill(cluster, node);
      RMApp waiting = cluster.submit("default");
      awaitReason(cluster, node, waiting, "elastane");
      String told = awaitActivity(cluster, waiting, "Elastane: 127.0.0.1:1: memory");
      assertTrue(told.contains("\"nodeId\":\"127.0.0.1:1\""), told);
    }
  }

  @Test
  void aReasonOfAllNodesIsAnActivityOfNone() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      RMApp waiting = observedOnAFullNode(cluster);
      String told = awaitActivity(cluster, waiting, "Elastane: all nodes are booked: ");
      assertFalse(told.contains("nodeId"), told);
    }
  }

  /** Without a heartbeat, so that CapacityScheduler says nothing. */
  @Test
  void anApplicationWhoseUserIsAtItsLimitHasCapacitySchedulersActivity() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    conf.set("yarn.scheduler.capacity.root.default.user-limit-factor", "0.25");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 64);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 5);
      cluster.heartbeatUntil("a container", () -> cluster.containers(master) == 2, node);
      RMApp waiting =
          cluster
              .resourceManager()
              .getRMContext()
              .getRMApps()
              .get(master.getApplicationAttemptId().getApplicationId());
      CoreStatus status = cluster.scheduler().link().status();
      Await.until("it waits", () -> !entry(status.snapshot(), waiting).isMissingNode());
      String words =
          ActivityDiagnosticConstant.QUEUE_HIT_USER_MAX_CAPACITY_LIMIT + ": user somebody has ";
      String told = awaitActivity(cluster, waiting, words);
      // The amounts are in angle brackets, which JSON may escape.
      for (String part :
          new String[] {
            "memory:2048, vCores:2",
            " of at most ",
            "memory:1024, vCores:16",
            " in queue root.default, and the next container requests ",
            "; waits for "
          }) {
        assertTrue(told.contains(part), told);
      }
    }
  }

  /** Asks for an application's activities until they have these words. */
  private static String awaitActivity(TestCluster cluster, RMApp waiting, String words)
      throws Exception {
    String path = "/ws/v1/cluster/scheduler/app-activities/" + waiting.getApplicationId();
    WebClient anybody = new WebClient(cluster, null);
    assertFalse(anybody.get(path + "?maxTime=30").body().contains("Elastane"));
    AtomicReference<String> told = new AtomicReference<>();
    Await.until(
        "an activity",
        () -> {
          try {
            told.set(anybody.get(path).body());
            return told.get().contains(words);
          } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    return told.get();
  }

  /** Its master would fit only if the one node were raised, which mode observe forbids. */
  private static RMApp observedOnAFullNode(TestCluster cluster) throws Exception {
    MockNM node = cluster.registerReporting("127.0.0.1:1", 2048, 2);
    MockAM master = cluster.launch("default", node);
    cluster.ask(master, 1024, 1);
    cluster.heartbeatUntil("the node is full", () -> cluster.containers(master) == 2, node);
    RMApp waiting =
        MockRMAppSubmitter.submit(
            cluster.resourceManager(),
            MockRMAppSubmissionData.Builder.createWithMemory(1024, cluster.resourceManager())
                .withUser("somebody")
                .withQueue("default")
                .withApplicationTags(Collections.singleton("elastane.mode=observe"))
                .build());
    awaitReason(cluster, node, waiting, "elastane");
    return waiting;
  }

  /** By demand, two containers fill the node. */
  private static void fill(TestCluster cluster, MockNM node) throws Exception {
    MockAM master = cluster.launch("default", node);
    cluster.foresee(master, 1, 1, 3072);
    cluster.ask(master, 1024, 1);
    cluster.heartbeatUntil("two containers", () -> cluster.containers(master) == 2, node);
    assertEquals(2048, cluster.allocatedMib(node));
  }

  private static void awaitReason(
      TestCluster cluster, MockNM node, RMApp application, String wanted) throws Exception {
    cluster.heartbeat(node);
    CoreStatus status = cluster.scheduler().link().status();
    Await.until(
        "a status with the reason",
        () -> entry(status.snapshot(), application).path("limit_of").asText().equals(wanted));
  }

  private static JsonNode entry(JsonNode status, RMApp application) {
    for (JsonNode entry : status.path("waiting")) {
      if (entry.get("application").asText().equals(application.getApplicationId().toString())) {
        return entry;
      }
    }
    return status.path("missing");
  }

  private static WaitReasons reasons(TestCluster cluster) {
    return new WaitReasons(cluster.scheduler(), cluster.scheduler().link().status()::snapshot);
  }
}
