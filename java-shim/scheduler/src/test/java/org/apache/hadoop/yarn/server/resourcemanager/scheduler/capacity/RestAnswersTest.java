package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.elastane.Await;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the REST answers about queues, nodes and applications, and to whom. */
class RestAnswersTest {
  private static final String NODE = "127.0.0.1:1";

  @TempDir Path directory;

  @Test
  void everyPathThatIsDescribedAnswers() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      String application = applicationOf(cluster.launch("default", node));
      WebClient anybody = new WebClient(cluster, null);

      JsonNode description = anybody.json("/elastane/v1/openapi.json");

      assertFalse(description.at("/info/version").asText().contains("$"), "filled in");
      List<String> paths = new ArrayList<>();
      description.get("paths").fieldNames().forEachRemaining(paths::add);
      assertEquals(12, paths.size());
      for (String path : paths) {
        anybody.json(
            "/elastane" + path.replace("{node}", NODE).replace("{application}", application));
      }
    }
  }

  @Test
  void whatIsNotAllowedIsNamedInOneLine() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      cluster.register(NODE, 4096, 4);
      WebClient anybody = new WebClient(cluster, null);
      assertEquals(
          "400 limits is no parameter of /elastane/v1/nodes; allowed: label, limit, offset",
          anybody.refusal("/elastane/v1/nodes?limits=1"));
      assertEquals(
          "400 limit is 'x', allowed: an integer from 1 to 10000",
          anybody.refusal("/elastane/v1/nodes?limit=x"));
      assertEquals(
          "400 limit is '1001', allowed: an integer from 1 to 1000",
          anybody.refusal("/elastane/v1/decisions?limit=1001"));
      assertEquals(
          "400 state is 'asleep', allowed: waiting, running",
          anybody.refusal("/elastane/v1/applications?state=asleep"));
      assertEquals(
          "400 limit is given 2 times", anybody.refusal("/elastane/v1/nodes?limit=1&limit=2"));
      assertEquals(
          "400 application is '7', allowed: such as application_1763736000000_0007",
          anybody.refusal("/elastane/v1/applications/7"));
      assertEquals(
          "404 no node elsewhere:1 is registered; see /elastane/v1/nodes",
          anybody.refusal("/elastane/v1/nodes/elsewhere:1"));
      assertEquals(
          "404 application_1_0001 neither runs nor waits, or you may not see it",
          anybody.refusal("/elastane/v1/applications/application_1_0001"));
      assertEquals(
          "404 there is no /elastane/v1/nodes/; see /elastane/",
          anybody.refusal("/elastane/v1/nodes/"));
      assertEquals(
          "404 application_1_99999999999 neither runs nor waits, or you may not see it",
          anybody.refusal("/elastane/v1/applications/application_1_99999999999"));
      assertEquals(
          "400 Limit is no parameter of /elastane/v1/queues; allowed: limit, offset",
          anybody.refusal("/elastane/v1/queues?Limit=1"));
    }
  }

  @Test
  void pagesOfNodesAreOneAfterTheOther() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      for (int port = 1; port <= 5; port++) {
        cluster.register("127.0.0.1:" + port, 4096, 4);
      }
      WebClient anybody = new WebClient(cluster, null);
      List<String> names = new ArrayList<>();
      for (int offset = 0; offset < 6; offset += 2) {
        JsonNode page = anybody.json("/elastane/v1/nodes?limit=2&offset=" + offset);
        assertEquals(5, page.get("total").asInt());
        assertEquals(offset, page.get("offset").asInt());
        page.get("nodes").forEach(node -> names.add(node.get("node").asText()));
      }
      assertEquals(
          Arrays.asList("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3", "127.0.0.1:4", "127.0.0.1:5"),
          names);
      assertEquals(0, anybody.json("/elastane/v1/nodes?offset=2147483647").get("nodes").size());
      assertEquals(0, anybody.json("/elastane/v1/nodes?label=x").get("total").asInt());
      assertEquals(5, anybody.json("/elastane/v1/nodes?label=").get("total").asInt());
    }
  }

  @Test
  void historyAndPlanAreOfALabelThatANodeHas() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      launchWithAnExecutor(cluster, node);
      SizeHistory sizes = cluster.scheduler().link().shown().history();
      Await.until(
          "a step with the node",
          () -> {
            sizes.sample();
            JsonNode nodes = sizes.of(null).get("nodes");
            return nodes.get(nodes.size() - 1).asInt() == 1;
          });
      WebClient anybody = new WebClient(cluster, null);

      for (String query : Arrays.asList("", "?label=")) {
        JsonNode history = anybody.json("/elastane/v1/history" + query);
        int last = history.get("time_ms").size() - 1;
        assertEquals(4096, history.get("physical_memory_mb").get(last).asInt());
        JsonNode plan = anybody.json("/elastane/v1/plan" + query);
        assertEquals(1, plan.get("nodes").asInt());
        assertTrue(plan.at("/planned/cpu_cores/0").asDouble() >= 0.5, plan.toString());
      }
      for (String path : Arrays.asList("history", "plan")) {
        assertEquals(
            "404 no node has the label 'x'; see /elastane/v1/sizes",
            anybody.refusal("/elastane/v1/" + path + "?label=x"));
      }
    }
  }

  @Test
  void theListsOfTheStatusAreLeftOutForWhoDoesNotWantThem() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      cluster.registerReporting(NODE, 4096, 4);
      WebClient anybody = new WebClient(cluster, null);
      JsonNode all = anybody.json("/elastane/v1/status");
      assertTrue(all.has("nodes") && all.has("waiting"), all.toString());
      JsonNode numbers = anybody.json("/elastane/v1/status?nodes=none&waiting=none");
      assertFalse(numbers.has("nodes") || numbers.has("waiting"), numbers.toString());
      assertEquals(all.size() - 2, numbers.size());
      assertTrue(anybody.json("/elastane/v1/status").has("nodes"), "the shared status keeps it");
    }
  }

  @Test
  void aQueueHasTheModeInForce() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set(ElastaneConfiguration.MODE + ".queue.root.b", "observe");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      cluster.launch("a", node);
      JsonNode queues = new WebClient(cluster, null).json("/elastane/v1/queues").get("queues");
      List<String> shown = new ArrayList<>();
      queues.forEach(
          queue ->
              shown.add(
                  String.join(
                      " ",
                      queue.get("queue").asText(),
                      queue.get("mode").asText(),
                      queue.get("state").asText(),
                      queue.get("applications").asText())));
      assertEquals(
          Arrays.asList(
              "root enforce RUNNING 1", "root.a enforce RUNNING 1", "root.b observe RUNNING 0"),
          shown);
    }
  }

  @Test
  void aNodeHasItsContainersAndAnApplicationItsOwn() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      MockAM master = launchWithAnExecutor(cluster, node);
      WebClient anybody = new WebClient(cluster, null);

      JsonNode shown = anybody.json("/elastane/v1/nodes/" + NODE);

      assertEquals(4096, shown.get("physical_memory_mb").asInt());
      assertEquals(0, shown.get("hidden_containers").asInt());
      assertEquals(200, shown.at("/planned/cpu_cores").size());
      JsonNode executor = containerOf(shown, false);
      assertEquals(0.5, executor.at("/planned/cpu_cores").asDouble());
      assertEquals(1024L << 20, executor.get("requested_memory_bytes").asLong());
      assertEquals("test", executor.get("profile").asText());
      JsonNode masters = containerOf(shown, true);
      assertTrue(masters.get("profile").isNull());

      JsonNode application = anybody.json("/elastane/v1/applications/" + applicationOf(master));
      assertEquals("root.default", application.get("queue").asText());
      assertEquals(2, application.get("running_containers").asInt());
      assertTrue(application.get("waiting").isNull());
      assertTrue(application.get("predicted_end").isNull(), "it has not run before");
      CoreAnswers core = cluster.scheduler().link().shown().answers();
      List<String> asked = Collections.singletonList(applicationOf(master));
      assertEquals("{}", core.predictedEnds(asked).toString(), "the core answers");
      assertEquals(
          containerOf(shown, false).get("container"),
          containerOf(application, false).get("container"));
    }
  }

  @Test
  void applicationsAreFoundByQueueUserAndState() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      MockAM first = cluster.launch("a", node);
      MockAM second = cluster.launch("b", node);
      cluster.ask(second, 8192, 3);
      WebClient anybody = new WebClient(cluster, null);
      Await.until(
          "the core's status has it",
          () -> cluster.scheduler().link().status().snapshot().path("waiting").size() == 1);

      assertEquals(Arrays.asList(second, first), found(anybody, "", first, second));
      assertEquals(
          Collections.singletonList(first), found(anybody, "?queue=root.a", first, second));
      assertEquals(Arrays.asList(second, first), found(anybody, "?queue=root", first, second));
      assertEquals(
          Collections.singletonList(second), found(anybody, "?state=waiting", first, second));
      assertEquals(Collections.emptyList(), found(anybody, "?user=nobody", first, second));
      JsonNode waiting =
          anybody.json("/elastane/v1/applications?state=waiting").at("/applications/0/waiting");
      assertEquals(3, waiting.get("containers").asInt());
      for (JsonNode one : anybody.json("/elastane/v1/applications").get("applications")) {
        assertTrue(one.has("predicted_end"), one.toString());
      }
      assertFalse(waiting.get("reason").asText().isEmpty());
    }
  }

  @Test
  void aQueueIsToldByItsPathAlsoWhereTheApplicationWasSubmittedByItsName() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      MockAM master = cluster.launch("b", node);
      cluster.ask(master, 8192, 1);
      // As Hadoop 3.3 has it.
      cluster
          .resourceManager()
          .getRMContext()
          .getRMApps()
          .get(master.getApplicationAttemptId().getApplicationId())
          .setQueue("b");
      WebClient anybody = new WebClient(cluster, null);
      Await.until(
          "the core's status has it",
          () -> cluster.scheduler().link().status().snapshot().path("waiting").size() == 1);

      assertEquals("root.b", anybody.json("/elastane/v1/status").at("/waiting/0/queue").asText());
      assertEquals(
          "root.b", anybody.json("/elastane/v1/applications").at("/applications/0/queue").asText());
    }
  }

  @Test
  void aStrangerSeesNeitherApplicationsNorTheirContainersAndDecisions() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    WebClient.checkCallers(conf);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(NODE, 4096, 4);
      String application = applicationOf(cluster.launch("default", node));
      WebClient owner = new WebClient(cluster, "somebody");
      WebClient stranger = new WebClient(cluster, "a-stranger");

      assertEquals(1, owner.json("/elastane/v1/applications").get("total").asInt());
      assertEquals(0, stranger.json("/elastane/v1/applications").get("total").asInt());
      assertEquals(
          "404 " + application + " neither runs nor waits, or you may not see it",
          stranger.refusal("/elastane/v1/applications/" + application));
      JsonNode seen = stranger.json("/elastane/v1/nodes/" + NODE);
      assertEquals(0, seen.get("containers").size());
      assertEquals(1, seen.get("hidden_containers").asInt());
      assertEquals(0, owner.json("/elastane/v1/applications").get("hidden").asInt());
      assertEquals(1, stranger.json("/elastane/v1/applications").get("hidden").asInt());
      String waiting = "/elastane/v1/applications?state=";
      assertEquals(0, stranger.json(waiting + "waiting").get("hidden").asInt());
      assertEquals(1, stranger.json(waiting + "running").get("hidden").asInt());
      assertEquals(
          "403 profiles are for administrators of YARN", stranger.refusal("/elastane/v1/profiles"));
      assertEquals(
          "403 advice is for administrators of YARN", stranger.refusal("/elastane/v1/advice"));
      new WebClient(cluster, "an-administrator").json("/elastane/v1/profiles");
      new WebClient(cluster, "an-administrator").json("/elastane/v1/advice");
      assertEquals("placed", kinds(owner).get(0));
      assertEquals(Collections.emptyList(), kinds(stranger));
    }
  }

  @Test
  void whatNeedsTheCoreIsSaidToBeMissingWhileItIsOutOfService() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      cluster.registerReporting(NODE, 4096, 4);
      cluster.scheduler().link().recovery().setWaitsForTest();
      cluster.scheduler().link().guard().takeOutOfService("a test", new Exception("by a test"));
      WebClient anybody = new WebClient(cluster, null);
      assertEquals(
          "503 the core gives no decisions now; the journal has earlier ones",
          anybody.refusal("/elastane/v1/decisions"));
      assertEquals(
          "503 the core gives no profiles now; `elastane profiles` reads them",
          anybody.refusal("/elastane/v1/profiles"));
      assertEquals("503 the core gives no advice now", anybody.refusal("/elastane/v1/advice"));
      assertTrue(anybody.json("/elastane/v1/plan").get("planned").isNull());
      JsonNode node = anybody.json("/elastane/v1/nodes/" + NODE);
      assertTrue(node.get("containers").isNull());
      assertTrue(node.get("history").isNull());
      assertTrue(node.get("planned").isNull());
      assertEquals(
          "503 the core does not say now which applications wait",
          anybody.refusal("/elastane/v1/applications?state=waiting"));
      assertEquals(4096, node.get("physical_memory_mb").asInt());
    }
  }

  /** An application with one executor, which is foreseen to use half a core and 512 MB. */
  private static MockAM launchWithAnExecutor(TestCluster cluster, MockNM node) throws Exception {
    MockAM master = cluster.launch("default", node);
    cluster.foresee(master, 1, 500, 512);
    cluster.ask(master, 1024, 1);
    cluster.heartbeatUntil("two containers", () -> cluster.containers(master) == 2, node);
    return master;
  }

  private static String applicationOf(MockAM master) {
    return master.getApplicationAttemptId().getApplicationId().toString();
  }

  private static List<MockAM> found(WebClient client, String query, MockAM... masters)
      throws Exception {
    List<MockAM> found = new ArrayList<>();
    for (JsonNode entry : client.json("/elastane/v1/applications" + query).get("applications")) {
      for (MockAM master : masters) {
        if (applicationOf(master).equals(entry.get("application").asText())) {
          found.add(master);
        }
      }
    }
    return found;
  }

  private static JsonNode containerOf(JsonNode answer, boolean isMaster) {
    for (JsonNode container : answer.get("containers")) {
      if (container.get("application_master").asBoolean() == isMaster) {
        return container;
      }
    }
    throw new AssertionError("no such container in " + answer);
  }

  /** The kinds of the decisions about containers, as the caller sees them. */
  static List<String> kinds(WebClient client) throws Exception {
    List<String> kinds = new ArrayList<>();
    for (JsonNode one : client.json("/elastane/v1/decisions").get("decisions")) {
      if (one.has("container")) {
        kinds.add(one.get("kind").asText());
      }
    }
    return kinds;
  }
}
