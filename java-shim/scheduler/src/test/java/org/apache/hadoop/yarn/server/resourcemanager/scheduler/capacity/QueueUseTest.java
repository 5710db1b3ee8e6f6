package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;

/** What queues used by the core's status of nodes. */
class QueueUseTest {
  private final QueueUse use = new QueueUse();

  @Test
  void aQueueHasTheUseOfThoseBelowOnAllNodes() throws Exception {
    use.add(node(queue("root.a.b", 3, 0.5), queue("root.a", 1, 0.25)));
    use.add(node(queue("root.a.b", 5, 1), queue("root.ab", 7, 1)));

    assertEquals(8, use.of("root.a.b").memoryMb());
    assertEquals(1.5, use.of("root.a.b").cpuCores());
    assertEquals(9, use.of("root.a").memoryMb());
    assertEquals(16, use.of("root").memoryMb());
    assertEquals(7, use.of("root.ab").memoryMb());
  }

  @Test
  void aQueueWithoutContainersUsesNothingOnceANodeWasMeasured() throws Exception {
    use.add(json("{'node': 'silent:1', 'measured': null}"));
    assertEquals(0, use.of("root.a").reports(), "not known");
    use.add(node());
    assertEquals(1, use.of("root.a").reports());
    assertEquals(0, use.of("root.a").memoryMb());
  }

  private static JsonNode node(String... queues) throws Exception {
    return json("{'measured': {'queues': [" + String.join(",", queues) + "]}}");
  }

  private static String queue(String path, int mib, double cores) {
    long bytes = mib * 1024L * 1024L;
    return String.format(
        "{'queue': '%s', 'used': {'memory_bytes': %d, 'cpu_cores': %s}}", path, bytes, cores);
  }

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }
}
