package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.AbstractMap.SimpleImmutableEntry;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.Clock;

/**
 * CapacityScheduler's limits of queues and users in lists of waiting applications. They are kept
 * for a second: an application's asks are read once in it, however many callers there are. A list
 * has many applications of a user in a queue whose next containers request the same: their limit is
 * worked out once.
 */
final class ListedLimits {
  private static final String SAYS = "capacity_scheduler_says";

  private final CapacityScheduler scheduler;
  private final LatestValue<Kept> kept;

  ListedLimits(CapacityScheduler scheduler, Clock clock) {
    this.scheduler = scheduler;
    kept = new LatestValue<>(Kept::new, clock);
  }

  /**
   * Adds the limit to an entry in which CapacityScheduler says nothing yet.
   *
   * @param waiting of the core's status
   */
  void addTo(ObjectNode waiting, ApplicationId application) {
    SchedulerApplication<FiCaSchedulerApp> known =
        scheduler.getSchedulerApplications().get(application);
    FiCaSchedulerApp attempt = known == null ? null : known.getCurrentAppAttempt();
    if (attempt != null && waiting.path(SAYS).isNull()) {
      waiting.put(SAYS, of(waiting, attempt));
    }
  }

  /**
   * Null if no limit of a queue or user holds the next executor back, or Elastane lets it wait, or
   * it is an application master.
   */
  private String of(JsonNode waiting, FiCaSchedulerApp attempt) {
    if (WaitReasons.isOurs(waiting)
        || attempt.isWaitingForAMContainer()
        || !(attempt.getQueue() instanceof CSQueue)) {
      return null;
    }
    JsonNode priority = waiting.path("request_priority");
    if (!priority.isInt()) {
      return null;
    }
    Kept known = kept.get();
    synchronized (known) {
      return known
          .byAttempt
          .computeIfAbsent(
              new SimpleImmutableEntry<>(attempt.getApplicationAttemptId(), priority.intValue()),
              missing -> Optional.ofNullable(read(known, attempt, priority.intValue())))
          .orElse(null);
    }
  }

  private String read(Kept known, FiCaSchedulerApp attempt, int requestPriority) {
    PendingAsks asks = PendingAsks.of(attempt);
    // The status is up to a second older than what the application asks for.
    if (asks.getCount() == 0 || requestPriority != asks.getRequestPriority()) {
      return null;
    }
    CSQueue leaf = (CSQueue) attempt.getQueue();
    return known
        .byMember
        .computeIfAbsent(
            new Member(leaf, attempt.getUser(), asks),
            missing ->
                Optional.ofNullable(
                    LimitWords.ofQueueOrUser(scheduler, attempt.getUser(), leaf, asks)))
        .orElse(null);
  }

  /** At most two statuses fall into a second, which bounds the entries. */
  private static final class Kept {
    /** By the attempt and the priority of the request that the status shows. */
    private final Map<Map.Entry<ApplicationAttemptId, Integer>, Optional<String>> byAttempt =
        new HashMap<>();

    private final Map<Member, Optional<String>> byMember = new HashMap<>();
  }

  /** Whoever has the same limits. */
  private static final class Member {
    private final CSQueue leaf;
    private final String user;
    private final String label;
    private final long memoryMib;
    private final int virtualCores;

    private Member(CSQueue leaf, String user, PendingAsks asks) {
      this.leaf = leaf;
      this.user = user;
      label = asks.getLabel();
      memoryMib = asks.getMemoryMib();
      virtualCores = asks.getVirtualCores();
    }

    @Override
    public boolean equals(Object other) {
      if (!(other instanceof Member)) {
        return false;
      }
      Member that = (Member) other;
      return leaf == that.leaf
          && user.equals(that.user)
          && label.equals(that.label)
          && memoryMib == that.memoryMib
          && virtualCores == that.virtualCores;
    }

    @Override
    public int hashCode() {
      return Objects.hash(System.identityHashCode(leaf), user, label, memoryMib, virtualCores);
    }
  }
}
