package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.util.Clock;

/**
 * The sizes, at most a second old: they are worked out once for all metrics that are read together.
 */
final class LatestSizes {
  private static final long VALID_FOR_MS = 1000;

  private final Supplier<ObjectNode> sizes;
  private final Clock clock;
  private final Map<String, JsonNode> byLabel = new HashMap<>();
  private final Map<String, Map<String, JsonNode>> byQueue = new HashMap<>();
  private ObjectNode latest;
  private long latestMs;

  LatestSizes(Supplier<ObjectNode> sizes, Clock clock) {
    this.sizes = sizes;
    this.clock = clock;
  }

  synchronized JsonNode all() {
    update();
    return latest;
  }

  /** Missing for a label that no node has. */
  synchronized JsonNode ofLabel(String label) {
    update();
    return byLabel.getOrDefault(label, MissingNode.getInstance());
  }

  /** Missing for a queue that has no part in the label. */
  synchronized JsonNode ofQueue(String queue, String label) {
    update();
    Map<String, JsonNode> labels = byQueue.get(queue);
    JsonNode found = labels == null ? null : labels.get(label);
    return found == null ? MissingNode.getInstance() : found;
  }

  private void update() {
    long nowMs = clock.getTime();
    if (latest != null && nowMs - latestMs < VALID_FOR_MS) {
      return;
    }
    latest = sizes.get();
    latestMs = nowMs;
    byLabel.clear();
    byQueue.clear();
    for (JsonNode entry : latest.path("labels")) {
      byLabel.put(entry.path("label").asText(), entry);
    }
    for (JsonNode entry : latest.path("queues")) {
      byQueue
          .computeIfAbsent(entry.path("queue").asText(), any -> new HashMap<>())
          .put(entry.path("label").asText(), entry);
    }
  }
}
