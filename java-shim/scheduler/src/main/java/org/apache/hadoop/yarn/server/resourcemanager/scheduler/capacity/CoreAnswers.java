package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.elastane.natives.Natives;

/**
 * What the core answers about decisions, a node or containers; missing while it gives no answer.
 */
final class CoreAnswers {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;

  /**
   * @param part which is out of service while answers fail
   */
  CoreAnswers(CoreGuard guard, Part part, CoreHandle core) {
    this.guard = guard;
    this.part = part;
    this.core = core;
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

  private JsonNode ask(String about, ObjectNode wanted) {
    String question = JSON.objectNode().put("about", about).setAll(wanted).toString();
    return guard.part(
        part, MissingNode.getInstance(), () -> CoreJson.read("answer", core.answer(question)));
  }
}
