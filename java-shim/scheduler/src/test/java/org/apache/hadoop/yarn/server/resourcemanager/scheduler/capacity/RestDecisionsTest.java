package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages and filters of the decisions that the REST answers with. */
class RestDecisionsTest {
  private static final String NODE = "127.0.0.1:1";

  @TempDir Path directory;

  @Test
  void pagesOfDecisionsLeaveOutWhatTheCallerMayNotSee() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    WebClient.checkCallers(conf);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(NODE, 8192, 8);
      List<String> applications = new ArrayList<>();
      for (String user : Arrays.asList("somebody", "a-stranger", "somebody")) {
        RMApp application = submit(cluster, user);
        MockRM.launchAndRegisterAM(application, cluster.resourceManager(), node);
        if (user.equals("somebody")) {
          applications.add(0, application.getApplicationId().toString());
        }
      }
      WebClient owner = new WebClient(cluster, "somebody");
      List<String> seen = new ArrayList<>();
      String before = "";
      do {
        JsonNode page = owner.json("/elastane/v1/decisions?kind=placed&limit=1" + before);
        page.get("decisions").forEach(one -> seen.add(one.get("application").asText()));
        JsonNode next = page.get("next_before");
        before = next.isNull() ? null : "&before=" + next.asText();
      } while (before != null);
      assertEquals(applications, seen);
      assertEquals(3, RestAnswersTest.kinds(new WebClient(cluster, "an-administrator")).size());
      String one = applications.get(1);
      JsonNode found = owner.json("/elastane/v1/decisions?application=" + one);
      assertEquals(1, found.get("decisions").size());
      String placedIn = "/elastane/v1/decisions?kind=placed&queue=";
      found = owner.json(placedIn + "root").get("decisions");
      assertEquals(2, found.size());
      assertEquals("root.default", found.get(0).get("queue").asText());
      assertEquals(0, owner.json(placedIn + "root.def").get("decisions").size());
    }
  }

  private static RMApp submit(TestCluster cluster, String user) throws Exception {
    MockRMAppSubmissionData application =
        MockRMAppSubmissionData.Builder.createWithMemory(1024, cluster.resourceManager())
            .withUser(user)
            .withQueue("default")
            .withUnmanagedAM(false)
            .build();
    return MockRMAppSubmitter.submit(cluster.resourceManager(), application);
  }
}
