package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.util.HashMap;
import java.util.Map;

/** What the containers of each queue used on the nodes of a label. */
final class QueueUse {
  private static final JsonNode NOTHING = JsonNodeFactory.instance.objectNode();

  private final Map<String, MeasuredUse> byPath = new HashMap<>();
  private boolean isAnyMeasured;

  /**
   * @param node the core's status of a node; missing if the core does not know the node
   */
  void add(JsonNode node) {
    JsonNode measured = node.path("measured");
    isAnyMeasured |= measured.isObject();
    for (JsonNode entry : measured.path("queues")) {
      String path = entry.path("queue").asText();
      for (int end = path.length(); end >= 0; end = path.lastIndexOf('.', end - 1)) {
        byPath.computeIfAbsent(path.substring(0, end), queue -> new MeasuredUse()).addReport(entry);
      }
    }
  }

  /** The use of a queue and those below; of nothing if no node was measured. */
  MeasuredUse of(String path) {
    MeasuredUse found = byPath.get(path);
    if (found != null) {
      return found;
    }
    MeasuredUse none = new MeasuredUse();
    if (isAnyMeasured) {
      none.addReport(NOTHING);
    }
    return none;
  }
}
