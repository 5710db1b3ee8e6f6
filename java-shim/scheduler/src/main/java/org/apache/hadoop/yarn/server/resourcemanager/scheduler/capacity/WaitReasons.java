package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt.AMState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.ActivitiesManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.ActivityDiagnosticConstant;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.RecordedActivity;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Says why an application waits where people look already, if the reason is Elastane's: in its
 * diagnostics while its application master waits ({@code yarn application -status}, YARN's pages),
 * and in its activities when somebody asks for them. CapacityScheduler says its own reasons itself;
 * to those in the diagnostics Elastane adds how long the application waits and the expected start.
 */
final class WaitReasons {
  /** How our words begin, where they stand among CapacityScheduler's. */
  static final String OURS = "Elastane: ";

  /** How what we add to CapacityScheduler's words begins. */
  private static final String ADDED = " " + OURS + "waits for ";

  /** Activities are recorded for 3 s after somebody asked, if not told otherwise. */
  static final long INTERVAL_MS = 1000;

  private static final int DIAGNOSTICS_EVERY = 5;

  private final CapacityScheduler scheduler;
  private final Supplier<ObjectNode> status;
  private final UserLimits limits = new UserLimits();
  private int calls;

  /** To whose diagnostics of CapacityScheduler we added words. */
  private final Map<FiCaSchedulerApp, RMAppAttempt> withAdded = new HashMap<>();

  WaitReasons(CapacityScheduler scheduler, Supplier<ObjectNode> status) {
    this.scheduler = scheduler;
    this.status = status;
  }

  /** To be called every {@link #INTERVAL_MS}. */
  void tell() {
    tellActivities();
    if (calls++ % DIAGNOSTICS_EVERY == 0) {
      tellDiagnostics();
    }
  }

  void tellDiagnostics() {
    Set<FiCaSchedulerApp> renewed = new HashSet<>();
    for (JsonNode waiting : status.get().path("waiting")) {
      if (waiting.path("request_priority").isNull()) {
        FiCaSchedulerApp attempt = attemptOf(waiting.path("application").asText());
        if (attempt != null && attempt.isWaitingForAMContainer()) {
          tellDiagnostics(waiting, attempt);
          renewed.add(attempt);
        }
      }
    }
    // CapacityScheduler may leave its words as they are for long, with our addition.
    for (FiCaSchedulerApp attempt : new ArrayList<>(withAdded.keySet())) {
      if (!renewed.contains(attempt)) {
        RMAppAttempt known = withAdded.remove(attempt);
        String told = known.getDiagnostics();
        update(attempt, known, told, told == null ? null : withoutAdded(told));
      }
    }
  }

  private void tellDiagnostics(JsonNode waiting, FiCaSchedulerApp attempt) {
    if (isOurs(waiting)) {
      attempt.updateAMContainerDiagnostics(AMState.ACTIVATED, " " + inWords(waiting) + ". ");
      return;
    }
    RMApp application = scheduler.getRMContext().getRMApps().get(attempt.getApplicationId());
    RMAppAttempt known = application == null ? null : application.getCurrentAppAttempt();
    String told = known == null ? null : known.getDiagnostics();
    String words = told == null ? "" : withoutAdded(told);
    if (words.isEmpty() || words.contains(OURS)) {
      return;
    }
    withAdded.put(attempt, known);
    update(attempt, known, told, words.trim() + " " + OURS + waitInWords(waiting) + ".");
  }

  private static void update(
      FiCaSchedulerApp attempt, RMAppAttempt known, String told, String wanted) {
    if (!Objects.equals(wanted, told)) {
      known.updateAMLaunchDiagnostics(wanted);
      // It may have got its container in between, and YARN clears the words once only.
      if (!attempt.isWaitingForAMContainer()) {
        known.updateAMLaunchDiagnostics(null);
      }
    }
  }

  /** The core is asked only if somebody asks for the activities of an application. */
  void tellActivities() {
    ActivitiesManager manager = scheduler.getActivitiesManager();
    for (SchedulerApplication<FiCaSchedulerApp> application :
        scheduler.getSchedulerApplications().values()) {
      FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
      if (attempt != null && RecordedActivity.begin(manager, null, Time.now(), attempt)) {
        JsonNode waiting = waiting(attempt.getApplicationId());
        if (!waiting.isMissingNode()
            && !attempt.isWaitingForAMContainer()
            && !PendingAsks.of(attempt).isForLabel()
            && limits.isUserAtLimit(attempt, scheduler.getClusterResource())) {
          // Rounds leave such an application out, so that CapacityScheduler says nothing of it.
          RecordedActivity.finish(manager, attempt, userLimitInWords(waiting, attempt));
        } else if (isOurs(waiting)) {
          FiCaSchedulerNode node = node(waiting.path("node"));
          RecordedActivity.begin(manager, node, Time.now(), attempt);
          RecordedActivity.finish(manager, attempt, inWords(waiting));
        }
      }
    }
  }

  /**
   * @param waiting of the core's status
   */
  static boolean isOurs(JsonNode waiting) {
    return waiting.path("limit_of").asText().equals("elastane");
  }

  /**
   * CapacityScheduler's own words where an application master waits, with the amounts of a limit of
   * its queue or user; null if Elastane lets it wait, and otherwise.
   *
   * @param waiting of the core's status
   */
  static String capacitySchedulerSays(JsonNode waiting, RMApp application) {
    if (isOurs(waiting) || !waiting.path("request_priority").isNull()) {
      return null;
    }
    String words = withoutAdded(application.getDiagnostics().toString()).trim();
    // Elastane's words stand there until CapacityScheduler has looked at the application again.
    return words.isEmpty() || words.contains(OURS) ? null : words;
  }

  private static String withoutAdded(String words) {
    int added = words.indexOf(ADDED);
    return added < 0 ? words : words.substring(0, added);
  }

  private JsonNode waiting(ApplicationId application) {
    for (JsonNode waiting : status.get().path("waiting")) {
      if (waiting.path("application").asText().equals(application.toString())) {
        return waiting;
      }
    }
    return MissingNode.getInstance();
  }

  private FiCaSchedulerApp attemptOf(String id) {
    SchedulerApplication<FiCaSchedulerApp> application =
        scheduler.getSchedulerApplications().get(ApplicationId.fromString(id));
    return application == null ? null : application.getCurrentAppAttempt();
  }

  /** Null if it is gone, or the reason is one of all nodes. */
  private FiCaSchedulerNode node(JsonNode name) {
    return name.isTextual() ? scheduler.getNode(NodeId.fromString(name.asText())) : null;
  }

  /** Whoever may see the application reads it, and may not see others. */
  private String inWords(JsonNode waiting) {
    RMContext context = scheduler.getRMContext();
    Visibility nothing = new Visibility(context, application -> false, forgotten -> false);
    String reason = nothing.withoutHidden(waiting.path("reason").asText());
    return OURS + reason + "; " + waitInWords(waiting);
  }

  /** CapacityScheduler's words for a user at its limit, with the amounts that it leaves out. */
  private String userLimitInWords(JsonNode waiting, FiCaSchedulerApp attempt) {
    String amounts = LimitWords.ofUser(scheduler, attempt, (CSQueue) attempt.getQueue());
    return ActivityDiagnosticConstant.QUEUE_HIT_USER_MAX_CAPACITY_LIMIT
        + (amounts == null ? "" : ": " + amounts)
        + "; "
        + waitInWords(waiting);
  }

  /** Since when, and until when if a start is expected. */
  private static String waitInWords(JsonNode waiting) {
    String since =
        String.format(Locale.ROOT, "waits for %d s", waiting.path("for_ms").asLong() / 1000);
    JsonNode start = waiting.path("expected_start");
    if (!start.path("in_ms").isNumber()) {
      return since;
    }
    return String.format(
        Locale.ROOT,
        "%s, and is expected to start in %s %d s",
        since,
        start.path("is_rough").asBoolean() ? "very roughly" : "about",
        start.get("in_ms").asLong() / 1000);
  }
}
