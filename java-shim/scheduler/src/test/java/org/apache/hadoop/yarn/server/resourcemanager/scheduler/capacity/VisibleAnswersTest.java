package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of the core's answers about several users one of them gets. */
class VisibleAnswersTest {
  private static final String MINE = "application_1_0001";
  private static final List<String> AMOUNTS =
      List.of(
          "cpu_cores",
          "memory_bytes",
          "network_bytes_per_s",
          "disk_bytes_per_s",
          "planned_cpu_cores",
          "planned_memory_bytes",
          "planned_network_bytes_per_s",
          "planned_disk_bytes_per_s");

  @TempDir Path directory;

  @Test
  void containersOfOthersAreOneSumInTheHistoryOfANode() throws Exception {
    String history =
        "{'age_ms': [40000, 20000, 0], 'containers': ["
            + series("container_1_0001_01_000002", "[1.0, 1.5, null]")
            + ","
            + series("container_1_0002_01_000002", "[null, 2.0, 3.0]")
            + ","
            + series("container_1_0003_01_000002", "[null, null, 0.5]")
            + ","
            + series("no-container", "[null, null, 1.0]")
            + "]}";
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      JsonNode shown = new NodeJson(null, onlyMine(cluster)).visible((ObjectNode) json(history));

      assertEquals(1, shown.get("containers").size());
      assertEquals(MINE, shown.at("/containers/0/application").asText());
      for (String amount : AMOUNTS) {
        assertEquals("[null,2.0,4.5]", shown.get("hidden").get(amount).toString(), amount);
      }
    }
  }

  @Test
  void whatElseWasConsideredKeepsTheScoreOfOthersAndNotTheirName() throws Exception {
    String decision =
        "{'application': 'application_1_0001', 'reason': 'fits', 'considered': ["
            + "{'application': 'application_1_0001', 'score': 0.1, 'verdict': 'may-go'},"
            + "{'application': 'application_1_0002', 'score': 0.2, 'verdict': 'at-limit'}]}";
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      JsonNode shown = new DecisionsJson(null, onlyMine(cluster)).visible(json(decision));

      assertEquals(MINE, shown.at("/considered/0/application").asText());
      JsonNode other = shown.at("/considered/1");
      assertTrue(other.get("application").isNull(), other.toString());
      assertEquals(0.2, other.get("score").asDouble());
    }
  }

  /** The ResourceManager knows none of these applications. */
  private static Visibility onlyMine(TestCluster cluster) {
    return new Visibility(
        cluster.resourceManager().getRMContext(),
        application -> true,
        forgotten -> forgotten.toString().equals(MINE));
  }

  private static String series(String container, String values) {
    String columns =
        AMOUNTS.stream()
            .map(amount -> ", '" + amount + "': " + values)
            .collect(Collectors.joining());
    return "{'container': '" + container + "'" + columns + "}";
  }

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }
}
