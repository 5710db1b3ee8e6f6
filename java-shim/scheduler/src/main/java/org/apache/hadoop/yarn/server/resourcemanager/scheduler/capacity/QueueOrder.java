package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** The order of one leaf queue's applications on the node of the round. */
final class QueueOrder {
  private final CoreGuard guard;
  private final CoreApplications applications;
  private final Rounds rounds;

  /** Applications of this queue whose pending asks the core does not know yet. */
  private final Map<ApplicationId, FiCaSchedulerApp> unknown = new ConcurrentHashMap<>();

  QueueOrder(CoreGuard guard, CoreApplications applications, Rounds rounds) {
    this.guard = guard;
    this.applications = applications;
    this.rounds = rounds;
  }

  void entered(FiCaSchedulerApp attempt) {
    guard.run("application active", () -> applications.entered(this, attempt));
    if (!isKnown(attempt.getApplicationId())) {
      unknown.put(attempt.getApplicationId(), attempt);
    }
  }

  void left(FiCaSchedulerApp attempt) {
    unknown.remove(attempt.getApplicationId());
    guard.run("application inactive", () -> applications.left(this, attempt));
  }

  /**
   * The applications that the leaf queue may offer the node to. All others are left out: the queue
   * would reserve the node for one that gets nothing, or stop there.
   *
   * @param base every application that the queue may schedule, in the order of its base policy
   * @return null when the base order applies
   */
  Iterator<FiCaSchedulerApp> iterator(Collection<FiCaSchedulerApp> base) {
    return guard.supply("order", null, () -> arrange(base));
  }

  private Iterator<FiCaSchedulerApp> arrange(Collection<FiCaSchedulerApp> base) {
    Rounds.Round round = rounds.current();
    if (!round.isActive() || base.isEmpty()) {
      return null;
    }
    List<FiCaSchedulerApp> best = round.best(this);
    if (best == null) {
      return null;
    }
    if (unknown.isEmpty()) {
      return best.iterator();
    }
    List<FiCaSchedulerApp> offered = new ArrayList<>(best);
    for (FiCaSchedulerApp attempt : base) {
      ApplicationId id = attempt.getApplicationId();
      if (unknown.containsKey(id)) {
        if (isKnown(id)) {
          unknown.remove(id);
        } else {
          offered.add(attempt);
        }
      }
    }
    return offered.iterator();
  }

  private boolean isKnown(ApplicationId application) {
    ApplicationRecord record = applications.find(application);
    return record != null && record.pendingKnown();
  }
}
