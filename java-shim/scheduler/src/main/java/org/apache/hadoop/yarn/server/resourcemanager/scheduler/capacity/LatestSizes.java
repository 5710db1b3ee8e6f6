package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.util.Clock;

/** The sizes, worked out once for all metrics that are read together. */
final class LatestSizes {
  private final LatestValue<Indexed> latest;

  LatestSizes(Supplier<ObjectNode> sizes, Clock clock) {
    latest = new LatestValue<>(() -> new Indexed(sizes.get()), clock);
  }

  JsonNode all() {
    return latest.get().all;
  }

  /** Missing for a label that no node has. */
  JsonNode ofLabel(String label) {
    return latest.get().byLabel.getOrDefault(label, MissingNode.getInstance());
  }

  /** Missing for a queue that has no part in the label. */
  JsonNode ofQueue(String queue, String label) {
    Map<String, JsonNode> labels = latest.get().byQueue.get(queue);
    JsonNode found = labels == null ? null : labels.get(label);
    return found == null ? MissingNode.getInstance() : found;
  }

  private static final class Indexed {
    final JsonNode all;
    final Map<String, JsonNode> byLabel = new HashMap<>();
    final Map<String, Map<String, JsonNode>> byQueue = new HashMap<>();

    Indexed(JsonNode all) {
      this.all = all;
      for (JsonNode entry : all.path("labels")) {
        byLabel.put(entry.path("label").asText(), entry);
      }
      for (JsonNode entry : all.path("queues")) {
        byQueue
            .computeIfAbsent(entry.path("queue").asText(), any -> new HashMap<>())
            .put(entry.path("label").asText(), entry);
      }
    }
  }
}
