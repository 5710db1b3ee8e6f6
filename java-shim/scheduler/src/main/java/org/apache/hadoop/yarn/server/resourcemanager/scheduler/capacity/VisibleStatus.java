package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/** The core's status with the applications that one caller may see. */
final class VisibleStatus {
  private static final String WAITING = "waiting";

  /** A reason may name the application that goes first. */
  private static final Pattern APPLICATION_ID = Pattern.compile("application_\\d+_\\d+");

  private final RMContext context;
  private final Predicate<RMApp> visible;

  VisibleStatus(RMContext context, Predicate<RMApp> visible) {
    this.context = context;
    this.visible = visible;
  }

  /**
   * @param status is not changed
   */
  ObjectNode of(ObjectNode status, boolean inService) {
    ObjectNode shown = JsonNodeFactory.instance.objectNode();
    shown.put("in_service", inService);
    shown.setAll(status);
    if (status.has(WAITING)) {
      ArrayNode waiting = shown.putArray(WAITING);
      status.get(WAITING).forEach(entry -> addIfVisible(waiting, entry));
    }
    return shown;
  }

  private void addIfVisible(ArrayNode waiting, JsonNode entry) {
    RMApp application = visibleApplication(entry.path("application").asText());
    if (application != null) {
      ObjectNode shown = waiting.addObject();
      shown.setAll((ObjectNode) entry);
      shown.put("name", application.getName());
      shown.put("queue", application.getQueue());
      shown.put("reason", withoutHidden(entry.path("reason").asText()));
    }
  }

  private String withoutHidden(String reason) {
    Matcher ids = APPLICATION_ID.matcher(reason);
    StringBuffer shown = new StringBuffer();
    while (ids.find()) {
      boolean isVisible = visibleApplication(ids.group()) != null;
      ids.appendReplacement(shown, isVisible ? ids.group() : "another application");
    }
    return ids.appendTail(shown).toString();
  }

  /** Null if the caller may not see the application, or the ResourceManager does not know it. */
  private RMApp visibleApplication(String id) {
    RMApp application = context.getRMApps().get(ApplicationId.fromString(id));
    return application != null && visible.test(application) ? application : null;
  }
}
