package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.elastane.rest.RestException;

/** One node, as JSON, for one caller: its sizes, its containers, its plan, and who arrives next. */
final class NodeJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private static final String[] AMOUNTS = {
    "cpu_cores",
    "memory_bytes",
    "network_bytes_per_s",
    "disk_bytes_per_s",
    "planned_cpu_cores",
    "planned_memory_bytes",
    "planned_network_bytes_per_s",
    "planned_disk_bytes_per_s",
  };

  private final CoreAnswers answers;
  private final Visibility visibility;

  NodeJson(CoreAnswers answers, Visibility visibility) {
    this.answers = answers;
    this.visibility = visibility;
  }

  /**
   * @param status the core's, with the applications that the caller may see
   * @throws RestException if there is no such node
   */
  ObjectNode of(String name, SizesJson sizes, JsonNode status) throws RestException {
    ObjectNode node = sizes.node(name);
    if (node == null) {
      throw RestException.notThere("no node " + name + " is registered; see /elastane/v1/nodes");
    }
    JsonNode details = answers.node(name);
    node.set("capacity", orNull(details.path("capacity")));
    node.set("planned", orNull(details.path("planned")));
    int hidden = 0;
    ArrayNode containers = JSON.arrayNode();
    for (JsonNode container : details.path("containers")) {
      if (visibility.sees(container.path("application").asText())) {
        containers.add(container);
      } else {
        hidden++;
      }
    }
    node.set("containers", details.isMissingNode() ? JSON.nullNode() : containers);
    node.put("hidden_containers", hidden);
    node.set("arrivals", arrivals(name, status));
    JsonNode history = details.path("history");
    node.set("history", history.isObject() ? visible((ObjectNode) history) : JSON.nullNode());
    return node;
  }

  /** A history in which what the caller may not see is one sum. */
  ObjectNode visible(ObjectNode history) {
    ArrayNode shown = JSON.arrayNode();
    List<JsonNode> hidden = new ArrayList<>();
    for (JsonNode container : history.path("containers")) {
      String application = applicationOf(container.path("container").asText());
      if (visibility.sees(application)) {
        ((ObjectNode) container).put("application", application);
        shown.add(container);
      } else {
        hidden.add(container);
      }
    }
    history.set("containers", shown);
    int steps = history.path("age_ms").size();
    ObjectNode sum = history.putObject("hidden");
    for (String amount : AMOUNTS) {
      sum.set(amount, sum(hidden, amount, steps));
    }
    return history;
  }

  /** Null at a step at which none of them was measured. */
  private static ArrayNode sum(List<JsonNode> containers, String amount, int steps) {
    ArrayNode sum = JSON.arrayNode();
    for (int i = 0; i < steps; i++) {
      double total = 0;
      boolean measured = false;
      for (JsonNode container : containers) {
        JsonNode value = container.path(amount).path(i);
        measured |= value.isNumber();
        total += value.asDouble();
      }
      if (measured) {
        sum.add(total);
      } else {
        sum.addNull();
      }
    }
    return sum;
  }

  /** Empty of what is no container's id; nobody sees that. */
  private static String applicationOf(String container) {
    try {
      return ContainerId.fromString(container)
          .getApplicationAttemptId()
          .getApplicationId()
          .toString();
    } catch (IllegalArgumentException e) {
      return "";
    }
  }

  /** The applications whose next container is planned to start here. */
  private static ArrayNode arrivals(String name, JsonNode status) {
    ArrayNode arrivals = JSON.arrayNode();
    for (JsonNode waiting : status.path("waiting")) {
      JsonNode start = waiting.path("planned_start");
      if (start.path("node").asText().equals(name)) {
        ObjectNode arrival = arrivals.addObject();
        arrival.set("application", waiting.get("application"));
        arrival.set("name", waiting.get("name"));
        arrival.set("in_ms", start.get("in_ms"));
      }
    }
    return arrivals;
  }

  private static JsonNode orNull(JsonNode value) {
    return value.isMissingNode() ? JSON.nullNode() : value;
  }
}
