package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt.AMState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * Says in an application's diagnostics why its application master waits, where the reason is
 * Elastane's: {@code yarn application -status} and YARN's pages show it. CapacityScheduler says its
 * own reasons itself.
 */
final class WaitDiagnostics {
  static final long INTERVAL_MS = 5000;

  private final CapacityScheduler scheduler;
  private final Supplier<ObjectNode> status;

  WaitDiagnostics(CapacityScheduler scheduler, Supplier<ObjectNode> status) {
    this.scheduler = scheduler;
    this.status = status;
  }

  void tell() {
    for (JsonNode waiting : status.get().path("waiting")) {
      if (waiting.path("limit_of").asText().equals("elastane")
          && waiting.path("request_priority").isNull()) {
        tell(waiting);
      }
    }
  }

  private void tell(JsonNode waiting) {
    ApplicationId id = ApplicationId.fromString(waiting.path("application").asText());
    SchedulerApplication<FiCaSchedulerApp> application =
        scheduler.getSchedulerApplications().get(id);
    FiCaSchedulerApp attempt = application == null ? null : application.getCurrentAppAttempt();
    if (attempt != null && attempt.isWaitingForAMContainer()) {
      attempt.updateAMContainerDiagnostics(AMState.ACTIVATED, " Elastane: " + inWords(waiting));
    }
  }

  /** Whoever may see the application reads it, and may not see others. */
  private String inWords(JsonNode waiting) {
    RMContext context = scheduler.getRMContext();
    Visibility nothing = new Visibility(context, application -> false, forgotten -> false);
    String reason = nothing.withoutHidden(waiting.path("reason").asText());
    JsonNode start = waiting.path("planned_start");
    return start.path("in_ms").isNumber()
        ? String.format(
            Locale.ROOT,
            "%s; planned to start in %d s on %s. ",
            reason,
            start.get("in_ms").asLong() / 1000,
            start.path("node").asText())
        : reason + ". ";
  }
}
