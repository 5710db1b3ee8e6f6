package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext;
import org.apache.hadoop.yarn.api.records.ContainerLaunchContext;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** The applications that the core knows. */
final class CoreApplications {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final CoreHandle core;
  private final SharedProfiles sharedProfiles;
  private final ConcurrentMap<ApplicationId, ApplicationRecord> byId = new ConcurrentHashMap<>();
  private final ConcurrentMap<Integer, ApplicationRecord> byNumber = new ConcurrentHashMap<>();
  private final Queue<FiCaSchedulerApp> restored = new ConcurrentLinkedQueue<>();

  CoreApplications(CoreHandle core, SharedProfiles sharedProfiles) {
    this.core = core;
    this.sharedProfiles = sharedProfiles;
  }

  /** The record of an application; null if the core does not know the application. */
  ApplicationRecord find(ApplicationId application) {
    return byId.get(application);
  }

  ApplicationRecord find(int number) {
    return byNumber.get(number);
  }

  void added(ApplicationId id, RMApp application, String queue) {
    ApplicationRecord former = byId.get(id);
    if (former != null && isCurrent(former)) {
      // A new core was told of all applications before the event of this one.
      return;
    }
    ApplicationRecord record =
        new ApplicationRecord(id, core.applicationAdded(describe(id, application, queue)), former);
    byNumber.put(record.number, record);
    byId.put(id, record);
  }

  void moved(ApplicationId application, String queue) {
    ApplicationRecord record = byId.get(application);
    if (record != null) {
      core.applicationMoved(record.number, queue);
    }
  }

  void removed(ApplicationId application, RMApp ended) {
    ApplicationRecord record = byId.remove(application);
    // A record of a former core has a number that the core does not know, or of another one.
    if (record != null && byNumber.remove(record.number, record)) {
      core.applicationRemoved(
          record.number,
          ended != null && ended.getFinalApplicationStatus() == FinalApplicationStatus.SUCCEEDED);
    }
  }

  /** Tells the core the attempt's pending asks if they changed. */
  void pendingChanged(FiCaSchedulerApp attempt, boolean queueIsOurs) {
    ApplicationRecord record = byId.get(attempt.getApplicationId());
    if (record != null) {
      record.tellPending(core, attempt, queueIsOurs);
    }
  }

  /** A queue with Elastane's ordering policy may schedule this attempt from now on. */
  void entered(QueueOrder queue, FiCaSchedulerApp attempt) {
    ApplicationRecord record = byId.get(attempt.getApplicationId());
    if (record != null) {
      record.enter(queue, attempt);
      record.tellPending(core, attempt, true);
    }
  }

  void left(QueueOrder queue, FiCaSchedulerApp attempt) {
    ApplicationRecord record = byId.get(attempt.getApplicationId());
    if (record != null) {
      record.leave(queue);
      record.tellPending(core, null, true);
    }
  }

  /**
   * The attempt gets back the ask of a container that its ApplicationMaster never received.
   * CapacityScheduler restores the ask after the hook that sees the container end, so the asks are
   * read again on the next event.
   */
  void asksAreRestored(FiCaSchedulerApp attempt) {
    restored.add(attempt);
  }

  /** A new core knows no application yet; {@link #added} replaces each record. */
  void coreIsNew() {
    byNumber.clear();
  }

  /** Removes the records that no new core was told of. */
  void forgetOutdated() {
    byId.values().removeIf(record -> !isCurrent(record));
  }

  private boolean isCurrent(ApplicationRecord record) {
    return byNumber.get(record.number) == record;
  }

  /** The next attempt whose asks were restored, or null. */
  FiCaSchedulerApp nextRestored() {
    return restored.poll();
  }

  private String describe(ApplicationId id, RMApp application, String queue) {
    Map<String, Object> description = new LinkedHashMap<>();
    description.put("id", id.toString());
    description.put("name", orEmpty(application.getName()));
    description.put("user", orEmpty(application.getUser()));
    description.put("queue", queue);
    description.put("type", orEmpty(application.getApplicationType()));
    description.put(
        "tags",
        application.getApplicationTags() == null
            ? Collections.emptySet()
            : application.getApplicationTags());
    // An age, because the core has a clock of its own.
    long ageMs = System.currentTimeMillis() - application.getSubmitTime();
    description.put("age_ms", Math.max(0, ageMs));
    description.put("commands", launchCommands(application));
    description.put("shared_profiles", sharedProfiles.of(queue));
    try {
      return JSON.writeValueAsString(description);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(id + " cannot be described", e);
    }
  }

  private static List<String> launchCommands(RMApp application) {
    ApplicationSubmissionContext submission = application.getApplicationSubmissionContext();
    ContainerLaunchContext launch = submission == null ? null : submission.getAMContainerSpec();
    List<String> commands = launch == null ? null : launch.getCommands();
    return commands == null ? Collections.emptyList() : commands;
  }

  private static String orEmpty(String value) {
    return value == null ? "" : value;
  }
}
