package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.function.Function;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.elastane.rest.RestCall;
import org.elastane.rest.RestException;

/** The REST's answers to one caller. */
final class RestAnswers {
  private final ElastaneScheduler scheduler;
  private final Visibility visibility;

  RestAnswers(ElastaneScheduler scheduler, Visibility visibility) {
    this.scheduler = scheduler;
    this.visibility = visibility;
  }

  JsonNode answer(RestCall call) throws RestException {
    switch (call.path()) {
      case "/v1/status":
        ObjectNode status = status();
        for (String list : new String[] {"nodes", "waiting"}) {
          if (call.text(list).equals("none")) {
            status.remove(list);
          }
        }
        for (JsonNode waiting : status.path("waiting")) {
          ApplicationId id = ApplicationId.fromString(waiting.get("application").asText());
          scheduler.link().shown().listedLimits().addTo((ObjectNode) waiting, id);
        }
        return status;
      case "/v1/sizes":
        return sizes().clusterAndLabels();
      case "/v1/queues":
        return page(call, "queues", new QueuesJson(scheduler, sizes()).all(), queue -> queue);
      case "/v1/nodes":
        SizesJson sizes = sizes();
        return page(call, "nodes", sizes.nodes(call.text("label")), sizes::entry);
      case "/v1/nodes/{node}":
        return new NodeJson(scheduler.link().shown().answers(), visibility)
            .of(call.text("node"), sizes(), status());
      case "/v1/applications":
        ApplicationsJson applications = applications();
        List<RMApp> found = applications.found(call);
        ObjectNode page = page(call, "applications", found, applications::listed);
        applications.addPredictedEnds(page.get("applications"));
        return page.put("hidden", applications.hidden(call.text("state")));
      case "/v1/applications/{application}":
        return applications().one(call.text("application"));
      case "/v1/history":
        return history(call.text("label"));
      case "/v1/plan":
        return plan(call.text("label"));
      case "/v1/profiles":
        return profiles(call);
      case "/v1/advice":
        return advice();
      case "/v1/decisions":
        return new DecisionsJson(scheduler.link().shown().answers(), visibility).of(call);
      default:
        throw new IllegalStateException(call.path() + " is described, and nothing answers it");
    }
  }

  /** The core's status with what the caller may see of it. */
  ObjectNode status() {
    return new VisibleStatus(scheduler, visibility)
        .of(scheduler.link().status().snapshot(), scheduler.link().guard().inService());
  }

  SizesJson sizes() {
    return new SizesJson(scheduler, scheduler.link().status().snapshot());
  }

  private JsonNode history(String label) throws RestException {
    ObjectNode history = scheduler.link().shown().history().of(label);
    if (history == null) {
      throw unknownLabel(label);
    }
    return history;
  }

  private JsonNode plan(String label) throws RestException {
    // Also of one that no node has any more: nothing is planned there.
    if (label != null
        && sizes().nodes(label).isEmpty()
        && !scheduler.link().shown().history().has(label)) {
      throw unknownLabel(label);
    }
    return scheduler.link().shown().answers().plan(label);
  }

  private static RestException unknownLabel(String label) {
    return RestException.notThere("no node has the label '" + label + "'; see /elastane/v1/sizes");
  }

  /** The keys of profiles name applications of everybody. */
  private JsonNode profiles(RestCall call) throws RestException {
    if (!visibility.seesAll()) {
      throw RestException.forbidden("profiles are for administrators of YARN");
    }
    ObjectNode page =
        scheduler.link().shown().answers().profiles(call.number("offset"), call.number("limit"));
    if (page == null) {
      throw RestException.notNow("the core gives no profiles now; `elastane profiles` reads them");
    }
    return page;
  }

  /** The advice is worked out from the applications of everybody, and names them. */
  private JsonNode advice() throws RestException {
    if (!visibility.seesAll()) {
      throw RestException.forbidden("advice is for administrators of YARN");
    }
    JsonNode advice = scheduler.link().shown().answers().advice();
    if (advice.isMissingNode()) {
      throw RestException.notNow("the core gives no advice now");
    }
    return advice;
  }

  private ApplicationsJson applications() {
    return new ApplicationsJson(scheduler, status(), visibility);
  }

  private static <T> ObjectNode page(
      RestCall call, String name, List<T> all, Function<T, ObjectNode> entry) {
    int offset = call.number("offset");
    ObjectNode page = JsonNodeFactory.instance.objectNode();
    page.put("total", all.size());
    page.put("offset", offset);
    ArrayNode entries = page.putArray(name);
    long end = Math.min(all.size(), (long) offset + call.number("limit"));
    for (int i = offset; i < end; i++) {
      entries.add(entry.apply(all.get(i)));
    }
    return page;
  }
}
