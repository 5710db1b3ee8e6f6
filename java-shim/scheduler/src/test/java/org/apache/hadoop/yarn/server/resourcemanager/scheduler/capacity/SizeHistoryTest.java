package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

class SizeHistoryTest {
  private ObjectNode sizes = sizes(1, "");
  private long nowMs = 1_000_000;
  private final SizeHistory history = new SizeHistory(() -> sizes, () -> nowMs);

  @Test
  void eachStepIsAnEntryOfEachColumnAndWhatWasNotMeasuredIsNull() {
    sample(1, "");
    sizes.with("cluster").put("used_cpu_cores", 1.5).put("used_memory_mb", 700);
    history.sample();

    ObjectNode columns = history.of(null);

    assertEquals("[1010000,1010000]", columns.get("time_ms").toString());
    assertEquals("[1,1]", columns.get("nodes").toString());
    assertEquals("[null,1.5]", columns.get("used_cpu_cores").toString());
    assertEquals("[null,700]", columns.get("used_memory_mb").toString());
  }

  @Test
  void theOldestStepsGo() {
    for (int nodes = 0; nodes < SizeHistory.MOST_STEPS + 2; nodes++) {
      sample(nodes, "");
    }
    JsonNode nodes = history.of(null).get("nodes");
    assertEquals(SizeHistory.MOST_STEPS, nodes.size());
    assertEquals(2, nodes.get(0).asInt());
    assertEquals(SizeHistory.MOST_STEPS, history.of("").get("nodes").size());
  }

  @Test
  void aLabelThatIsGoneStaysForAsLongAsItsStepsAreShown() {
    sample(1, "x");
    assertNull(history.of("another"));
    for (int i = 0; i < SizeHistory.MOST_STEPS; i++) {
      sample(1, "");
    }
    assertNotNull(history.of("x"));
    sample(1, "");
    assertNull(history.of("x"));
    assertTrue(history.of("").get("nodes").size() > 0);
  }

  private void sample(int nodes, String label) {
    nowMs += SizeHistory.STEP_MS;
    sizes = sizes(nodes, label);
    history.sample();
  }

  private static ObjectNode sizes(int nodes, String label) {
    ObjectNode sizes = JsonNodeFactory.instance.objectNode();
    sizes.putObject("cluster").put("nodes", nodes).putNull("used_cpu_cores");
    sizes.putArray("labels").addObject().put("label", label).put("nodes", nodes);
    return sizes;
  }
}
