package org.elastane.conf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** What docs/configuration.md says of keys that Java reads; the core's own test has the others. */
class DocumentedSettingsTest {
  private static final Map<String, ToIntFunction<Configuration>> NUMBERS = new HashMap<>();

  static {
    NUMBERS.put(
        ElastaneConfiguration.USAGE_HANDLER_COUNT, ElastaneConfiguration::usageHandlerCount);
    NUMBERS.put(
        ElastaneConfiguration.DEPOSITORY_SHARED_EVERY_MS,
        ElastaneConfiguration::depositorySharedEveryMs);
  }

  @Test
  void aRowSaysWhetherItsKeyNeedsARestart() throws IOException {
    Map<String, String[]> rows = DocumentedKeys.rows();
    assertTrue(rows.size() > 30, rows.keySet().toString());
    rows.forEach(
        (key, cells) ->
            assertEquals(
                ElastaneConfiguration.isReadAtStartOnly(key),
                DocumentedKeys.needsRestart(cells),
                key));
  }

  @Test
  void theNumbersThatJavaReadsAreAsTheirRowsSay() throws IOException {
    Map<String, String[]> rows = DocumentedKeys.rows();
    NUMBERS.forEach(
        (key, read) -> {
          String[] cells = rows.get(key);
          String[] bounds = cells[3].trim().split(" to ", 2);
          Configuration conf = new Configuration(false);
          assertEquals(Integer.parseInt(cells[2].trim()), read.applyAsInt(conf), key);
          for (String bound : bounds) {
            conf.set(key, bound);
            assertEquals(Integer.parseInt(bound), read.applyAsInt(conf), key);
          }
          for (int beyond : new int[] {Integer.parseInt(bounds[0]) - 1, above(bounds[1])}) {
            conf.setInt(key, beyond);
            assertThrows(ElastaneConfigurationException.class, () -> read.applyAsInt(conf), key);
          }
        });
  }

  private static int above(String bound) {
    return Integer.parseInt(bound) + 1;
  }
}
