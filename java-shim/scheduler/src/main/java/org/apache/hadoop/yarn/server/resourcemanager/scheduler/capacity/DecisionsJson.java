package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.elastane.rest.RestCall;
import org.elastane.rest.RestException;

/** The newest decisions, as JSON, for one caller. */
final class DecisionsJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private static final String[] FILTERS = {"application", "container", "node", "queue", "kind"};

  private final CoreAnswers answers;
  private final Visibility visibility;

  DecisionsJson(CoreAnswers answers, Visibility visibility) {
    this.answers = answers;
    this.visibility = visibility;
  }

  /**
   * Those of a page that the caller may see, newest first.
   *
   * @throws RestException while the core gives none
   */
  ObjectNode of(RestCall call) throws RestException {
    ObjectNode wanted = JSON.objectNode();
    for (String filter : FILTERS) {
      wanted.put(filter, call.text(filter));
    }
    wanted.put("limit", call.number("limit"));
    if (call.text("before") != null) {
      wanted.put("before", Long.parseLong(call.text("before")));
    }
    JsonNode found = answers.decisions(wanted);
    if (found.isMissingNode()) {
      throw RestException.notNow("the core gives no decisions now; the journal has earlier ones");
    }
    ObjectNode answer = JSON.objectNode();
    ArrayNode shown = answer.putArray("decisions");
    for (JsonNode decision : found.get("decisions")) {
      if (isVisible(decision)) {
        shown.add(visible(decision));
      }
    }
    answer.set("next_before", found.get("next_before"));
    answer.set("newest", found.get("newest"));
    answer.set("numbering", found.get("numbering"));
    return answer;
  }

  /** What is about a node alone is for everybody. */
  private boolean isVisible(JsonNode decision) {
    JsonNode application = decision.path("application");
    return application.isTextual()
        ? visibility.sees(application.asText())
        : !decision.has("container");
  }

  JsonNode visible(JsonNode decision) {
    JsonNode reason = decision.path("reason");
    if (reason.isTextual()) {
      ((ObjectNode) decision).put("reason", visibility.withoutHidden(reason.asText()));
    }
    for (JsonNode considered : decision.path("considered")) {
      if (!visibility.sees(considered.path("application").asText())) {
        ((ObjectNode) considered).putNull("application");
      }
    }
    return decision;
  }
}
