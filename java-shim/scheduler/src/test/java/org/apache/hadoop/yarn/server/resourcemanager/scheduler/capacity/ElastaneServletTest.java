package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.AdminService;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.ResourceManagerWebServer;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.elastane.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the ResourceManager's web server answers below /elastane/. */
class ElastaneServletTest {
  @TempDir Path directory;

  @Test
  void anotherUserSeesNoApplication() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    WebClient.checkCallers(conf);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      String waiting = waitingApplication(cluster, node);

      for (String allowed : Arrays.asList("somebody", "an-administrator")) {
        WebClient client = new WebClient(cluster, allowed);
        JsonNode status = client.json("/elastane/v1/status");
        assertEquals(waiting, status.get("waiting").get(0).get("application").asText());
      }
      WebClient stranger = new WebClient(cluster, "a-stranger");
      JsonNode status = stranger.json("/elastane/v1/status");
      assertEquals(0, status.get("waiting").size());
      assertEquals(1, status.get("waiting_applications").asInt());
      assertEquals(2, status.get("waiting_containers").asInt());
      String suffix = waiting.substring("application".length());
      for (String path :
          Arrays.asList("status", "sizes", "nodes", "nodes/127.0.0.1:1", "queues", "history")) {
        String body = stranger.get("/elastane/v1/" + path).body();
        assertFalse(body.contains(suffix), body);
      }
      assertEquals(401, new WebClient(cluster, null).get("/elastane/v1/status").statusCode());
    }
  }

  @Test
  void aDelegationTokenStandsForTheCallerWhoGotIt() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    WebClient.checkCallers(conf);
    String status = "/elastane/v1/status";
    String header = "X-Hadoop-Delegation-Token";
    try (TestCluster cluster = TestCluster.start(conf)) {
      String waiting =
          waitingApplication(cluster, cluster.registerReporting("127.0.0.1:1", 4096, 4));
      WebClient nobody = new WebClient(cluster, null);
      for (String caller : Arrays.asList("somebody", "a-stranger")) {
        JsonNode answer = new WebClient(cluster, caller).json(status + "?op=GETDELEGATIONTOKEN");
        String token = answer.at("/Token/urlString").asText();
        HttpResponse<String> asked = nobody.send("GET", status, header, token);
        assertEquals(200, asked.statusCode(), asked.body());
        assertEquals(caller.equals("somebody"), asked.body().contains(waiting), caller);
      }
      assertEquals(403, nobody.send("GET", status, header, "bm9uZQ").statusCode());
    }
  }

  @Test
  void aReasonNamesNoApplicationThatTheCallerMayNotSee() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    WebClient.checkCallers(conf);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      String waiting = waitingApplication(cluster, node);
      String gone = waiting.replaceFirst("\\d+$", "9999");
      ObjectNode status = (ObjectNode) cluster.coreStatus();
      ((ObjectNode) status.get("waiting").get(0))
          .put("reason", "it would delay the planned start of " + gone + ", not of " + waiting);

      JsonNode shown =
          new VisibleStatus(
                  cluster.scheduler(),
                  new Visibility(
                      cluster.resourceManager().getRMContext(), any -> true, forgotten -> false))
              .of(status, true);

      assertEquals(
          "it would delay the planned start of another application, not of " + waiting,
          shown.get("waiting").get(0).get("reason").asText());
    }
  }

  @Test
  void whatIsNotAskedForByGetOrIsNotThereIsRefusedInOneLine() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      WebClient anybody = new WebClient(cluster, null);
      for (String method : Arrays.asList("POST", "PUT", "DELETE", "HEAD", "OPTIONS")) {
        HttpResponse<String> refused = anybody.send(method, "/elastane/v1/status");
        assertEquals(405, refused.statusCode(), method);
        assertEquals("GET", refused.headers().firstValue("Allow").get());
      }
      HttpResponse<String> missing = anybody.get("/elastane/v1/no%3Cb%3Esuch%22");
      assertEquals(404, missing.statusCode());
      assertTrue(missing.headers().firstValue("Content-Type").get().contains("json"));
      assertEquals(
          "there is no /elastane/v1/no<b>such\"; see /elastane/",
          new ObjectMapper().readTree(missing.body()).get("error").asText());
      assertEquals(200, anybody.get("/cluster/scheduler").statusCode());
    }
  }

  @Test
  void hadoopsFilterAgainstForgedRequestsStandsBeforeThePath() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    conf.setBoolean(YarnConfiguration.RM_CSRF_ENABLED, true);
    try (TestCluster cluster = TestCluster.start(conf)) {
      WebClient anybody = new WebClient(cluster, null);
      String[] browser = {"User-Agent", "Mozilla/5.0"};
      String[] withHeader = {"User-Agent", "Mozilla/5.0", "X-XSRF-Header", ""};
      for (String path : Arrays.asList("/elastane/", "/elastane/v1/status")) {
        assertEquals(200, anybody.send("GET", path, browser).statusCode(), path);
        HttpResponse<String> forged = anybody.send("POST", path, browser);
        assertEquals(400, forged.statusCode(), path);
        assertTrue(forged.body().contains("CSRF"), forged.body());
        assertEquals(405, anybody.send("POST", path, withHeader).statusCode(), "by the servlet");
      }
    }
  }

  @Test
  void thePageIsTheFilesOfTheJarAndNothingElse() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      WebClient anybody = new WebClient(cluster, null);

      HttpResponse<String> page = anybody.get("/elastane/");

      assertEquals(200, page.statusCode());
      assertTrue(page.headers().firstValue("Content-Type").get().startsWith("text/html"));
      String policy = page.headers().firstValue("Content-Security-Policy").get();
      assertTrue(policy.startsWith("default-src 'none'; script-src 'self';"), policy);
      Matcher files = Pattern.compile("(?:src|href)=\"(page/[^\"]+)\"").matcher(page.body());
      int count = 0;
      for (; files.find(); count++) {
        HttpResponse<String> file = anybody.get("/elastane/" + files.group(1));
        assertEquals(200, file.statusCode(), files.group(1));
        String kind = files.group(1).endsWith(".css") ? "text/css" : "text/javascript";
        assertTrue(file.headers().firstValue("Content-Type").get().startsWith(kind));
      }
      assertTrue(count >= 2, page.body());
      for (String other :
          Arrays.asList("page/nothing.js", "page/..%2Frest/openapi.json", "index.html", "page/")) {
        assertTrue(anybody.get("/elastane/" + other).statusCode() >= 400, other);
      }
      HttpResponse<String> withoutSlash = anybody.get("/elastane");
      assertEquals(302, withoutSlash.statusCode());
      assertEquals("elastane/", withoutSlash.headers().firstValue("Location").get());
    }
  }

  @Test
  void theCoreIsSaidToBeOutOfServiceAndTheSizesStay() throws Exception {
    try (TestCluster cluster = TestCluster.start(WebClient.withPage(directory))) {
      cluster.registerReporting("127.0.0.1:1", 4096, 4);
      cluster.scheduler().link().recovery().setWaitsForTest();
      WebClient anybody = new WebClient(cluster, null);
      assertTrue(anybody.json("/elastane/v1/status").get("in_service").asBoolean());

      cluster.scheduler().link().guard().takeOutOfService("a test", new Exception("by a test"));

      assertFalse(anybody.json("/elastane/v1/status").get("in_service").asBoolean());
      JsonNode all = anybody.json("/elastane/v1/sizes").get("cluster");
      assertEquals(4096, all.get("physical_memory_mb").asInt());
    }
  }

  @Test
  void thePageIsRegisteredOnceAndShowsEachNextScheduler() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    conf.setBoolean(YarnConfiguration.RM_HA_ENABLED, true);
    conf.setBoolean(YarnConfiguration.AUTO_FAILOVER_ENABLED, false);
    conf.set(YarnConfiguration.RM_HA_IDS, "rm1,rm2");
    conf.set(YarnConfiguration.RM_HA_ID, "rm1");
    conf.set(YarnConfiguration.RM_HOSTNAME + ".rm1", "127.0.0.1");
    conf.set(YarnConfiguration.RM_HOSTNAME + ".rm2", "127.0.0.2");
    conf.set(YarnConfiguration.RM_WEBAPP_ADDRESS + ".rm1", "127.0.0.1:0");
    StateChangeRequestInfo request = new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER);
    try (TestCluster cluster = TestCluster.start(conf)) {
      AdminService administration = cluster.resourceManager().getRMContext().getRMAdminService();
      administration.transitionToActive(request);
      WebClient anybody = new WebClient(cluster, null);
      cluster.register("127.0.0.1:1", 4096, 4);
      assertEquals(1, anybody.json("/elastane/v1/nodes").get("nodes").size());
      ElastaneScheduler first = cluster.scheduler();

      administration.transitionToStandby(request);
      assertNotSame(200, anybody.get("/elastane/v1/nodes").statusCode(), "redirected");
      administration.transitionToActive(request);

      assertNotSame(first, cluster.scheduler());
      assertEquals(0, anybody.json("/elastane/v1/nodes").get("nodes").size());
      assertEquals(1, servlets(cluster.resourceManager()));
      assertEquals(Collections.emptyList(), cluster.scheduler().link().parts().outOfService());
    }
  }

  @Test
  void aPageThatCannotBeRegisteredCostsOnlyThePageAndIsTriedAgain() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      CoreLink link = cluster.scheduler().link();
      List<String> attempts = Collections.synchronizedList(new ArrayList<>());
      RetriedStart page =
          new RetriedStart(
              link.parts().page,
              "elastane-page",
              () -> {
                attempts.add("one");
                if (attempts.size() == 1) {
                  throw new IllegalStateException("a test's web server");
                }
              });
      page.start();
      assertEquals(Collections.singletonList("page"), link.parts().outOfService());
      assertEquals(1, link.metrics().partFailureCount());
      assertTrue(link.guard().inService());

      BooleanSupplier again = () -> link.parts().outOfService().isEmpty();
      Await.until("the page is there", again);
      page.stop(() -> {});
      assertEquals(2, attempts.size());
    }
  }

  /** The id of an application that waits for two containers. */
  private static String waitingApplication(TestCluster cluster, MockNM node) throws Exception {
    return waiting(cluster, node, cluster.submit("default"));
  }

  private static String waiting(TestCluster cluster, MockNM node, RMApp application)
      throws Exception {
    MockAM master = MockRM.launchAndRegisterAM(application, cluster.resourceManager(), node);
    cluster.ask(master, 1024, 2);
    cluster.foresee(master, 1, 1, 3584);
    cluster.heartbeat(node);
    CoreStatus status = cluster.scheduler().link().status();
    Await.until("a status with it", () -> status.snapshot().get("waiting").size() == 1);
    return application.getApplicationId().toString();
  }

  private static long servlets(MockRM resourceManager) {
    return Arrays.stream(
            ResourceManagerWebServer.of(resourceManager)
                .getWebAppContext()
                .getServletHandler()
                .getServlets())
        .filter(servlet -> servlet.getName().equals("elastane"))
        .count();
  }
}
