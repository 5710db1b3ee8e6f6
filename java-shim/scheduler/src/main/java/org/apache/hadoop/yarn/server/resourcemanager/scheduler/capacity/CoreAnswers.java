package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.util.Clock;
import org.elastane.natives.Natives;

/**
 * What the core answers about decisions, nodes, containers, applications, profiles and advice;
 * missing while it gives no answer, if nothing else is said.
 */
final class CoreAnswers {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The core sums the plans of all nodes for it. */
  private static final long PLAN_VALID_FOR_MS = 5000;

  /** No label has such a name. */
  private static final String ALL = "*";

  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;
  private final Clock clock;
  private final Map<String, LatestValue<JsonNode>> plans = new ConcurrentHashMap<>();

  /**
   * @param part which is out of service while answers fail
   */
  CoreAnswers(CoreGuard guard, Part part, CoreHandle core, Clock clock) {
    this.guard = guard;
    this.part = part;
    this.core = core;
    this.clock = clock;
  }

  /**
   * The newest decisions that match.
   *
   * @param wanted which ones, and how many at most; see {@link Natives#answer}
   */
  JsonNode decisions(ObjectNode wanted) {
    return ask("decisions", wanted);
  }

  /** A node's containers and plan; missing as well if the core does not know the node. */
  JsonNode node(String name) {
    JsonNode answer = ask("node", JSON.objectNode().put("node", name));
    return answer.isNull() ? MissingNode.getInstance() : answer;
  }

  /** Those of these containers that run. */
  JsonNode containers(List<String> ids) {
    ObjectNode wanted = JSON.objectNode();
    ids.forEach(wanted.putArray("containers")::add);
    return ask("containers", wanted).path("containers");
  }

  /** When those of these applications whose end is predicted are expected to end, by their ids. */
  JsonNode predictedEnds(List<String> ids) {
    ObjectNode wanted = JSON.objectNode();
    ids.forEach(wanted.putArray("applications")::add);
    return ask("predicted-ends", wanted).path("predicted_ends");
  }

  /**
   * What is planned on the nodes together, and on how many; at most {@link #PLAN_VALID_FOR_MS} old.
   *
   * @param label of which nodes, one that is known; null for all
   */
  JsonNode plan(String label) {
    String key = label == null ? ALL : label;
    return plans
        .computeIfAbsent(
            key, any -> new LatestValue<>(() -> planNow(label), clock, PLAN_VALID_FOR_MS))
        .get();
  }

  private JsonNode planNow(String label) {
    JsonNode plan = ask("plan", JSON.objectNode().put("label", label));
    if (!plan.isMissingNode()) {
      return plan;
    }
    return JSON.objectNode().putNull("nodes").putNull("planned");
  }

  /** A page of the profiles, the latest used first; null while the core gives no answer. */
  ObjectNode profiles(int offset, int limit) {
    JsonNode found = ask("profiles", JSON.objectNode().put("offset", offset).put("limit", limit));
    return found.isMissingNode() ? null : ((ObjectNode) found).put("offset", offset);
  }

  /** The latest finished replay of the core's record. A question may start the next replay. */
  JsonNode advice() {
    return ask("advice", JSON.objectNode());
  }

  private JsonNode ask(String about, ObjectNode wanted) {
    String question = JSON.objectNode().put("about", about).setAll(wanted).toString();
    return guard.part(
        part, MissingNode.getInstance(), () -> CoreJson.read("answer", core.answer(question)));
  }
}
