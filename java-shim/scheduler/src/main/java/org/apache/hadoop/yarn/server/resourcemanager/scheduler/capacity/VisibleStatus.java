package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;

/** The core's status with the applications that one caller may see. */
final class VisibleStatus {
  private static final String WAITING = "waiting";

  private final CapacityScheduler scheduler;
  private final Visibility visibility;

  VisibleStatus(CapacityScheduler scheduler, Visibility visibility) {
    this.scheduler = scheduler;
    this.visibility = visibility;
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
    RMApp application = visibility.find(entry.path("application").asText());
    if (application != null) {
      ObjectNode shown = waiting.addObject();
      shown.setAll((ObjectNode) entry);
      shown.put("name", application.getName());
      shown.put("queue", QueuePaths.of(scheduler, application));
      shown.put("capacity_scheduler_says", WaitReasons.capacitySchedulerSays(entry, application));
      shown.put("reason", visibility.withoutHidden(entry.path("reason").asText()));
    }
  }
}
