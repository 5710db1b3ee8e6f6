package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.Mode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mode advise: what is shown of the mode, and of the advice. */
class AdviceTest {
  private static final String QUEUE_MODE = ElastaneConfiguration.MODE + ".queue.";

  @TempDir Path directory;

  @Test
  void theCoreKeepsARecordInModeAdvise() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("advise"))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      cluster.launch("default", node);
      WebClient anybody = new WebClient(cluster, null);

      JsonNode answer = anybody.json("/elastane/v1/advice");

      assertTrue(answer.get("is_recording").asBoolean(), answer.toString());
      assertTrue(answer.has("is_working") && answer.has("advice"), answer.toString());
      assertEquals("advise", anybody.json("/elastane/v1/status").get("mode").asText());
      assertFalse(cluster.scheduler().link().settings().isEnforcing());
    }
  }

  @Test
  void theCoreKeepsNoRecordInModeEnforce() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("enforce"))) {
      JsonNode answer = new WebClient(cluster, null).json("/elastane/v1/advice");
      assertFalse(answer.get("is_recording").asBoolean(), answer.toString());
    }
  }

  @Test
  void theCoreKeepsARecordForAQueueInModeAdvise() throws Exception {
    Configuration conf = configuration("enforce");
    conf.set(QUEUE_MODE + "root.default", "advise");
    try (TestCluster cluster = TestCluster.start(conf)) {
      WebClient anybody = new WebClient(cluster, null);
      JsonNode answer = anybody.json("/elastane/v1/advice");
      assertTrue(answer.get("is_recording").asBoolean(), answer.toString());
      assertEquals("{root=enforce, root.default=advise}", modesOfQueues(anybody));
    }
  }

  @Test
  void theObserveFileTurnsAdviseToObserve() throws Exception {
    Files.createDirectory(directory.resolve("elastane"));
    Files.createFile(directory.resolve("elastane").resolve("observe"));
    Configuration conf = configuration("advise");
    conf.set(QUEUE_MODE + "root.default", "advise");
    try (TestCluster cluster = TestCluster.start(conf)) {
      WebClient anybody = new WebClient(cluster, null);
      assertEquals("observe", anybody.json("/elastane/v1/status").get("mode").asText());
      assertEquals("{root=observe, root.default=observe}", modesOfQueues(anybody));
      assertFalse(anybody.json("/elastane/v1/advice").get("is_recording").asBoolean());
    }
  }

  @Test
  void aQueueWithoutAModeHasThatOfTheClusterWhereNothingIsEnforced() throws Exception {
    Configuration conf = configuration("advise");
    TestCluster.queues(conf, "a", "b", "c");
    conf.set(QUEUE_MODE + "root.b", "observe");
    conf.set(QUEUE_MODE + "root.c", "enforce");
    try (TestCluster cluster = TestCluster.start(conf)) {
      assertEquals(
          "{root=advise, root.a=advise, root.b=observe, root.c=advise}",
          modesOfQueues(new WebClient(cluster, null)));
    }
  }

  @Test
  void aQueueInAdviseIsDecidedForAsOneInObserve() {
    Map<String, Mode> byPath = new TreeMap<>();
    byPath.put("root.a", Mode.ADVISE);
    byPath.put("root.a.b", Mode.ENFORCE);
    byPath.put("root.c", Mode.OBSERVE);
    QueueModes modes = new QueueModes(byPath);
    for (String path : Arrays.asList("root.a", "root.a.d", "root.c")) {
      assertTrue(modes.observes(path), path);
    }
    for (String path : Arrays.asList("root", "root.a.b", "root.aa")) {
      assertFalse(modes.observes(path), path);
    }
  }

  private Configuration configuration(String mode) {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, mode, directory);
    WebClient.enable(conf);
    return conf;
  }

  private static String modesOfQueues(WebClient client) throws Exception {
    Map<String, String> modes = new TreeMap<>();
    client
        .json("/elastane/v1/queues")
        .get("queues")
        .forEach(it -> modes.put(it.get("queue").asText(), it.get("mode").asText()));
    return modes.toString();
  }
}
