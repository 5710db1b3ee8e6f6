package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The queues with their mode, and their sizes by node label, as JSON. */
final class QueuesJson {
  private final ElastaneScheduler scheduler;
  private final SizesJson sizes;

  QueuesJson(ElastaneScheduler scheduler, SizesJson sizes) {
    this.scheduler = scheduler;
    this.sizes = sizes;
  }

  /** In the order of their paths. */
  List<ObjectNode> all() {
    Map<String, ObjectNode> byPath = new TreeMap<>();
    for (JsonNode share : sizes.queues()) {
      ObjectNode ofLabel = share.deepCopy();
      String path = ofLabel.remove("queue").asText();
      ArrayNode labels = (ArrayNode) byPath.computeIfAbsent(path, this::entry).get("labels");
      labels.add(ofLabel);
    }
    return new ArrayList<>(byPath.values());
  }

  private ObjectNode entry(String path) {
    ObjectNode entry = JsonNodeFactory.instance.objectNode();
    entry.put("queue", path);
    entry.put(
        "mode", scheduler.link().settings().modeOfQueue(path).name().toLowerCase(Locale.ROOT));
    CSQueue queue = scheduler.getQueue(path);
    entry.put("state", queue == null ? null : queue.getState().toString());
    entry.put("applications", queue == null ? 0 : queue.getNumApplications());
    entry.putArray("labels");
    return entry;
  }
}
