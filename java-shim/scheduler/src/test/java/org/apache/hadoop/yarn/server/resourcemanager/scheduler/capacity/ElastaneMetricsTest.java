package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics of the whole cluster. */
class ElastaneMetricsTest {
  private static final Pattern NAME = Pattern.compile("`([A-Z][A-Za-z0-9]+)`");

  /** Numbers of the core's status that are no metrics: another metric counts the same. */
  private static final Set<String> NOT_PUBLISHED =
      new HashSet<>(
          Arrays.asList(
              "refused_commits",
              "memory_preemptions",
              "reports",
              "refused_reports",
              "depository_in_service",
              "journal_in_service"));

  @TempDir Path directory;

  @Test
  void theBeanGoesWithTheScheduler() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      assertTrue(cluster.scheduler().link().guard().inService());
      assertTrue(Published.hasBean(ElastaneMetrics.NAME));
      cluster.scheduler().link().close();
      assertFalse(Published.hasBean(ElastaneMetrics.NAME));
    }
  }

  @Test
  void whatHappensIsCounted() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      cluster.launch("default", node);

      Map<String, Integer> expected = new TreeMap<>();
      expected.put("InService", 1);
      expected.put("Active", 1);
      expected.put("Enforcing", 1);
      expected.put("NodesRaised", 1);
      expected.put("NodesEnforced", 1);
      expected.put("NodesMeasured", 1);
      expected.put("AgentsFresh", 1);
      expected.put("AgentsSilent", 0);
      expected.put("LearnerAlive", 1);
      expected.put("PlacedByCore", 1);
      expected.put("AdmittedByCore", 1);
      expected.put("PhysicalMB", 4096);
      expected.put("BookableMB", 6144);
      expected.put("BookedMB", 1024);
      expected.put("PhysicalVCores", 4);
      expected.put("BookableVCores", 6);
      expected.put("BookedVCores", 1);
      expected.put("Containers", 1);
      expected.put("CoreFailures", 0);
      expected.put("RefusedCommits", 0);
      expected.put("PartsOutOfService", 0);
      expected.put("DepositoryInService", 1);
      expected.put("MemoryPreemptionInService", 1);
      for (Map.Entry<String, Integer> metric : expected.entrySet()) {
        Published.await(metric.getKey(), metric.getValue(), cluster::metrics);
      }
      assertTrue(cluster.metrics().roundCount() >= 1);
    }
  }

  @Test
  void aCoreOutOfServiceHasNoFigures() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.registerReporting("127.0.0.1:1", 4096, 4);
      Published.await("AgentsFresh", 1, cluster::metrics);
      cluster.scheduler().link().recovery().setWaitsForTest();
      cluster
          .scheduler()
          .link()
          .guard()
          .takeOutOfService("a test", new IllegalStateException("asked for by a test"));

      Published.await("InService", 0, cluster::metrics);
      Published.await("PhysicalMB", 4096, cluster::metrics);
      Set<String> names = Published.metricsOf(cluster.metrics()).keySet();
      assertFalse(names.contains("AgentsFresh"), "a counter must not fall to 0 and come back");
    }
  }

  @Test
  void everyNumberOfTheCoreIsPublished() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      Set<String> published = new TreeSet<>(NOT_PUBLISHED);
      for (CoreFigure figure : CoreFigure.values()) {
        published.add(figure.key());
      }
      Set<String> known = new TreeSet<>();
      JsonNode status = cluster.scheduler().link().status().snapshot();
      status
          .fields()
          .forEachRemaining(
              field -> {
                if (field.getValue().isNumber() || field.getValue().isBoolean()) {
                  known.add(field.getKey());
                }
              });
      assertEquals(known, published);
    }
  }

  @Test
  void thePageHasARowForEveryMetricAndForNoOther() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      Set<String> published = new TreeSet<>(Published.metricsOf(cluster.metrics()).keySet());
      published.removeIf(name -> name.contains("Percentile") || name.endsWith("NumOps"));
      assertEquals(documented(), published);
    }
  }

  /** The first cells of the rows about the bean {@code ElastaneScheduler}. */
  private static Set<String> documented() throws IOException {
    Path page = Path.of(System.getProperty("user.dir")).resolve("../../docs/monitoring.md");
    Set<String> names = new TreeSet<>();
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith("| `") && line.indexOf('|', 1) > 0) {
        Matcher matcher = NAME.matcher(line.substring(0, line.indexOf('|', 1)));
        while (matcher.find()) {
          names.add(matcher.group(1));
        }
      }
    }
    return names;
  }
}
