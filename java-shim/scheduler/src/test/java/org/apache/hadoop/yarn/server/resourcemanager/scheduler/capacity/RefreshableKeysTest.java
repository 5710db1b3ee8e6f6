package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.commons.lang3.reflect.FieldUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.elastane.conf.DocumentedKeys;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every key that needs no restart changes with a refresh, or is refused there. */
class RefreshableKeysTest {
  /** Of a key that allows any words. */
  private static final String NONE_IS_BAD = null;

  private static final Map<String, Values> CASES = new TreeMap<>();

  static {
    values("mode", "enforce", "on");
    values("mode.enforced-nodes", "n1,n2:8041", NONE_IS_BAD);
    values("mode.label.LABEL", "enforce", "off");
    values("mode.queue.PATH", "enforce", "off");
    values("overcommit.max-ratio", "2.5", "11");
    values("overcommit.max-ratio.label.LABEL", "2.5", "0.9");
    values("overcommit.max-ratio.queue.PATH", "2.5", "much");
    values("policy", "minfrag", "fairest");
    values("placement.favor", "makespan", "speed");
    values("fit.peaks", "strict", "stretch");
    values("placement.order", "queue", "fifo");
    values("preempt.first", "kill", "migrate");
    values("starvation.wait-ms", "60000", "999");
    values("plan.valid-for-ms", "60000", "2999");
    values("plan.cpu.weights", "off", "yes");
    values("plan.cpu.cap-ratio", "2", "0.5");
    values("plan.memory", "on", "yes");
    values("plan.disk.cap-ratio", "2", "101");
    values("plan.network.cap-ratio", "2", "-1");
    values("reprovision", "on", "true");
    values("reprovision.slow-from", "1.5", "1");
    values("reprovision.every-ms", "90000", "9999");
    values("reprovision.least-left", "0.5", "1.5");
    values("profile.runs", "5", "0");
    values("profile.margin", "0.5", "-0.1");
    values("profile.least-confidence", "0.5", "2");
    values("profile.others", "off", "false");
    values("depository.keep-days", "30", "0");
    values("depository.max-mb", "100", "9");
    values("report.interval-ms", "2000", "999");
    values("report.missed", "7", "three");
    values("price.core-hour", "0.25", "-1");
    values("price.gb-hour", "0.25", "free");
    values("journal.usage", "true", "yes");
    values("observe.file", "/somewhere/else/observe", "observe");
  }

  @TempDir Path directory;

  @Test
  void everyKeyThatNeedsNoRestartHasACase() throws IOException {
    TreeSet<String> keys = new TreeSet<>();
    // It has a table of its own.
    keys.add(ElastaneConfiguration.MODE);
    DocumentedKeys.rows()
        .forEach(
            (key, cells) -> {
              if (!DocumentedKeys.needsRestart(cells)) {
                keys.add(key);
              }
            });
    assertEquals(keys, CASES.keySet());
  }

  @Test
  void everyKeyHasItsNewValueAfterARefreshAndKeepsItWhereTheNextIsNotAllowed() throws Exception {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, "observe", directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      CoreLink link = cluster.scheduler().link();
      cluster.heartbeatUntil("a core is in service", link.guard()::inService);
      JsonNode atStart = inForce(link);
      for (Map.Entry<String, Values> one : CASES.entrySet()) {
        String key = one.getKey().replace("LABEL", "gpu").replace("PATH", "root.default");
        Values values = one.getValue();
        String former = conf.get(key);
        assertNotEquals(values.good, atStart.path(key).asText(), key);

        SettingsRefreshTest.refresh(cluster, conf, key, values.good);
        JsonNode changed = inForce(link);
        assertEquals(values.good, changed.path(key).asText(), key);
        assertTrue(link.guard().inService(), key);

        if (values.bad != null) {
          IOException e =
              assertThrows(
                  IOException.class,
                  () -> SettingsRefreshTest.refresh(cluster, conf, key, values.bad),
                  key);
          String start = key + " is '" + values.bad + "', allowed is ";
          assertTrue(e.getMessage().startsWith(start), e.getMessage());
          assertEquals(1, e.getMessage().lines().count(), e.getMessage());
          assertEquals(changed, inForce(link), key);
        }

        if (former == null) {
          conf.unset(key);
        } else {
          conf.set(key, former);
        }
        cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
        assertEquals(atStart, inForce(link), key);
      }
      assertEquals(0, cluster.metrics().coreFailureCount());
    }
  }

  @Test
  void theFileThatARefreshNamesIsTheObserveFile() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      Path other = Files.createFile(directory.resolve("another"));
      SettingsRefreshTest.refresh(
          cluster, conf, ElastaneConfiguration.OBSERVE_FILE, other.toString());
      LiveSettings settings = cluster.scheduler().link().settings();
      cluster.heartbeatUntil("observed", settings::isObserveFileThere, node);
      assertEquals("observe", cluster.coreStatus().path("mode").asText());
    }
  }

  /** What the core goes on by. */
  private static JsonNode inForce(CoreLink link) throws Exception {
    Object settings = FieldUtils.readField(link.core(), "settingsJson", true);
    return new ObjectMapper().readTree((String) settings);
  }

  private static void values(String key, String good, String bad) {
    CASES.put(ElastaneConfiguration.SCHEDULER_PREFIX + key, new Values(good, bad));
  }

  /** A value that is allowed and not the default, and one that is not allowed. */
  private record Values(String good, String bad) {}
}
