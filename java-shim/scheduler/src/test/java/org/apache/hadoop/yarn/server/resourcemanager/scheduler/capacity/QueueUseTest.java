package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

/** What queues used by the core's status of nodes. */
class QueueUseTest {
  private final QueueUse use = new QueueUse();

  @Test
  void aQueueHasTheUseOfThoseBelowOnAllNodes() throws Exception {
    use.add(node(queue("root.a.b", 3, 0.5), queue("root.a", 1, 0.25)));
    use.add(node(queue("root.a.b", 5, 1), queue("root.ab", 7, 1)));

    assertEquals(8, used("root.a.b", "used_memory_mb"));
    assertEquals(1.5, used("root.a.b", "used_cpu_cores"));
    assertEquals(800, used("root.a.b", "used_network_bytes_per_s"));
    assertEquals(80, used("root.a.b", "used_disk_bytes_per_s"));
    assertEquals(9, used("root.a", "used_memory_mb"));
    assertEquals(16, used("root", "used_memory_mb"));
    assertEquals(7, used("root.ab", "used_memory_mb"));
  }

  @Test
  void aQueueWithoutContainersUsesNothingOnceANodeWasMeasured() throws Exception {
    use.add(json("{'node': 'silent:1', 'measured': null}"));
    assertEquals(0, use.of("root.a").reports(), "not known");
    assertTrue(entry("root.a").path("used_disk_bytes_per_s").isNull());
    use.add(node());
    assertEquals(1, use.of("root.a").reports());
    assertEquals(0, used("root.a", "used_memory_mb"));
  }

  private double used(String queue, String amount) {
    return entry(queue).path(amount).doubleValue();
  }

  private ObjectNode entry(String queue) {
    ObjectNode entry = JsonNodeFactory.instance.objectNode();
    use.of(queue).putInto(entry);
    return entry;
  }

  private static JsonNode node(String... queues) throws Exception {
    return json("{'measured': {'queues': [" + String.join(",", queues) + "]}}");
  }

  private static String queue(String path, int mib, double cores) {
    long bytes = mib * 1024L * 1024L;
    return String.format(
        "{'queue': '%s', 'used': {'memory_bytes': %d, 'cpu_cores': %s,"
            + " 'network_bytes_per_s': %d00, 'disk_bytes_per_s': %d0}}",
        path, bytes, cores, mib, mib);
  }

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }
}
