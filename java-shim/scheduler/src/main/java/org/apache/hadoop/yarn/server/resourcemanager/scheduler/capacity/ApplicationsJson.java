package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.elastane.rest.RestCall;
import org.elastane.rest.RestException;

/** The applications that run or wait, as JSON, for one caller. */
final class ApplicationsJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** What an entry of the status has beside the reasons. */
  private static final List<String> OF_THE_APPLICATION =
      Arrays.asList("application", "name", "queue");

  private final ElastaneScheduler scheduler;
  private final Visibility visibility;
  private final Map<String, ObjectNode> waiting = new HashMap<>();
  private final boolean isStateKnown;
  private final int hiddenWaiting;

  /**
   * @param status the core's, with the applications that the caller may see
   */
  ApplicationsJson(ElastaneScheduler scheduler, JsonNode status, Visibility visibility) {
    this.scheduler = scheduler;
    this.visibility = visibility;
    isStateKnown = status.has("waiting");
    hiddenWaiting = status.path("waiting_applications").asInt() - status.path("waiting").size();
    for (JsonNode entry : status.path("waiting")) {
      ObjectNode why = entry.deepCopy();
      why.remove(OF_THE_APPLICATION);
      waiting.put(entry.path("application").asText(), why);
    }
  }

  /**
   * Those that the caller may see and asks for, newest first.
   *
   * @throws RestException if it asks for a state that is not known now
   */
  List<RMApp> found(RestCall call) throws RestException {
    if (!isStateKnown && call.text("state") != null) {
      throw RestException.notNow("the core does not say now which applications wait");
    }
    List<ApplicationId> ids = new ArrayList<>(scheduler.getSchedulerApplications().keySet());
    ids.sort(Comparator.reverseOrder());
    List<RMApp> found = new ArrayList<>();
    for (ApplicationId id : ids) {
      RMApp application = scheduler.getRMContext().getRMApps().get(id);
      if (application != null
          && visibility.sees(application)
          && isWithin(call.text("queue"), QueuePaths.of(scheduler, application))
          && isOrNull(call.text("user"), application.getUser())
          && isOrNull(call.text("state"), stateOf(id))) {
        found.add(application);
      }
    }
    return found;
  }

  /**
   * The number of those that the caller may not see, whatever queue and user they are of.
   *
   * @param state of which ones; null for all
   */
  long hidden(String state) {
    if ("waiting".equals(state)) {
      return hiddenWaiting;
    }
    long all =
        scheduler.getSchedulerApplications().keySet().stream()
            .map(scheduler.getRMContext().getRMApps()::get)
            .filter(application -> application != null && !visibility.sees(application))
            .count();
    return state == null ? all : Math.max(0, all - hiddenWaiting);
  }

  /**
   * @throws RestException if it is not there, or not for the caller
   */
  ObjectNode one(String id) throws RestException {
    RMApp application = visibility.find(id);
    SchedulerApplication<FiCaSchedulerApp> known =
        application == null ? null : known(application.getApplicationId());
    if (known == null) {
      throw RestException.notThere(id + " neither runs nor waits, or you may not see it");
    }
    ObjectNode one = entry(application);
    List<String> ids = new ArrayList<>();
    FiCaSchedulerApp attempt = known.getCurrentAppAttempt();
    if (attempt != null) {
      JsonNode why = one.get("waiting");
      if (why.path("capacity_scheduler_says").isNull()) {
        ((ObjectNode) why).put("capacity_scheduler_says", limitOfExecutors(why, attempt));
      }
      for (RMContainer container : attempt.getLiveContainers()) {
        ids.add(container.getContainerId().toString());
      }
    }
    JsonNode containers = scheduler.link().shown().answers().containers(ids);
    one.set("containers", containers.isMissingNode() ? JSON.nullNode() : containers);
    addPredictedEnds(Collections.singletonList(one));
    return one;
  }

  private SchedulerApplication<FiCaSchedulerApp> known(ApplicationId id) {
    return scheduler.getSchedulerApplications().get(id);
  }

  /** One of a list: without what only a look at all nodes tells. */
  ObjectNode listed(RMApp application) {
    ObjectNode entry = entry(application);
    JsonNode why = entry.get("waiting");
    if (why.isObject()) {
      ListedLimits limits = scheduler.link().shown().listedLimits();
      limits.addTo((ObjectNode) why, application.getApplicationId());
    }
    return entry;
  }

  private ObjectNode entry(RMApp application) {
    ApplicationId id = application.getApplicationId();
    SchedulerApplication<FiCaSchedulerApp> known = known(id);
    FiCaSchedulerApp attempt = known == null ? null : known.getCurrentAppAttempt();
    ObjectNode entry = JSON.objectNode();
    entry.put("application", id.toString());
    entry.put("name", application.getName());
    entry.put("user", application.getUser());
    entry.put("queue", QueuePaths.of(scheduler, application));
    entry.put("type", application.getApplicationType());
    entry.put("state", stateOf(id));
    entry.put("yarn_state", application.createApplicationState().toString());
    entry.put("submitted_ms", application.getSubmitTime());
    entry.put("progress_percent", Math.round(application.getProgress() * 1000) / 10.0);
    Resource booked =
        attempt == null ? Resources.none() : attempt.getSchedulingResourceUsage().getAllUsed();
    entry.put("running_containers", attempt == null ? 0 : attempt.getLiveContainersMap().size());
    entry.put("booked_memory_mb", booked.getMemorySize());
    entry.put("booked_vcores", booked.getVirtualCores());
    ObjectNode why = waiting.get(id.toString());
    if (why != null) {
      why.put("capacity_scheduler_says", WaitReasons.capacitySchedulerSays(why, application));
    }
    entry.set("waiting", why == null ? JSON.nullNode() : why);
    return entry;
  }

  /**
   * The limit that an application's executors wait for, with its amounts; null if they fit all, or
   * Elastane lets them wait where CapacityScheduler could start them. Takes locks of the queue and
   * looks at all nodes: not for a whole list.
   */
  private String limitOfExecutors(JsonNode why, FiCaSchedulerApp attempt) {
    if (attempt.isWaitingForAMContainer() || !(attempt.getQueue() instanceof CSQueue)) {
      return null;
    }
    JsonNode priority = why.path("request_priority");
    Integer requestPriority = priority.isInt() ? priority.intValue() : null;
    return WaitReasons.isOurs(why)
        ? PlaceWords.never(scheduler, attempt, requestPriority)
        : LimitWords.of(scheduler, attempt, (CSQueue) attempt.getQueue(), requestPriority);
  }

  /** Adds to each entry when its application is expected to end. The core is asked once for all. */
  void addPredictedEnds(Iterable<? extends JsonNode> entries) {
    List<String> ids = new ArrayList<>();
    entries.forEach(entry -> ids.add(entry.path("application").asText()));
    JsonNode ends = scheduler.link().shown().answers().predictedEnds(ids);
    for (JsonNode entry : entries) {
      JsonNode end = ends.get(entry.path("application").asText());
      ((ObjectNode) entry).set("predicted_end", end == null ? JSON.nullNode() : end);
    }
  }

  private String stateOf(ApplicationId id) {
    if (!isStateKnown) {
      return null;
    }
    return waiting.containsKey(id.toString()) ? "waiting" : "running";
  }

  private static boolean isWithin(String queue, String path) {
    return queue == null || path.equals(queue) || path.startsWith(queue + ".");
  }

  private static boolean isOrNull(String wanted, String found) {
    return wanted == null || wanted.equals(found);
  }
}
