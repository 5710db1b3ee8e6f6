package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** The order of one leaf queue's applications on the node of the round. */
final class QueueOrder {
  private final String path;
  private final CoreGuard guard;
  private final CoreApplications applications;
  private final Rounds rounds;

  /** Applications of this queue whose pending asks the core does not know yet. */
  private final Map<ApplicationId, FiCaSchedulerApp> unknown = new ConcurrentHashMap<>();

  /**
   * @param path the queue's
   */
  QueueOrder(String path, CoreGuard guard, CoreApplications applications, Rounds rounds) {
    this.path = path;
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
    rounds.left(this, attempt);
    guard.run("application inactive", () -> applications.left(this, attempt));
  }

  /** Whether an attempt is in this queue: it may have moved. */
  boolean isOf(FiCaSchedulerApp attempt) {
    return path.equals(((CSQueue) attempt.getQueue()).getQueuePath());
  }

  /**
   * The applications that the leaf queue may offer the node to. All others are left out: the queue
   * would reserve the node for one that gets nothing, or stop there.
   *
   * @param all every application that the queue may schedule
   * @param inBaseOrder the same in the order of the base policy, which may be costly
   * @return null when the base order applies
   */
  Iterator<FiCaSchedulerApp> iterator(
      Collection<FiCaSchedulerApp> all, Supplier<Iterator<FiCaSchedulerApp>> inBaseOrder) {
    return guard.supply("order", null, () -> arrange(all, inBaseOrder));
  }

  private Iterator<FiCaSchedulerApp> arrange(
      Collection<FiCaSchedulerApp> all, Supplier<Iterator<FiCaSchedulerApp>> inBaseOrder) {
    Round round = rounds.current();
    if (!round.isActive() || all.isEmpty()) {
      return null;
    }
    Predicate<FiCaSchedulerApp> mayKill = round.mayKill();
    if (mayKill != null) {
      return new Walk(round, inBaseOrder.get(), mayKill, !rounds.keepsBaseOrder(path));
    }
    if (rounds.keepsBaseOrder(path)) {
      Predicate<FiCaSchedulerApp> fitting = round.fitting();
      return fitting == null
          ? null
          : new Walk(
              round,
              inBaseOrder.get(),
              attempt -> isUnknown(attempt) || fitting.test(attempt),
              false);
    }
    List<FiCaSchedulerApp> best = round.best(this);
    if (best == null) {
      return null;
    }
    Walk walk = new Walk(round, withUnknown(best, all).iterator(), any -> true, true);
    if (best.size() >= Rounds.BEST_OF_QUEUE) {
      walk.follow(
          inBaseOrder,
          () -> {
            Predicate<FiCaSchedulerApp> rest = round.rest();
            return attempt -> rest.test(attempt) && !best.contains(attempt);
          });
    }
    return walk;
  }

  private List<FiCaSchedulerApp> withUnknown(
      List<FiCaSchedulerApp> best, Collection<FiCaSchedulerApp> all) {
    if (unknown.isEmpty()) {
      return best;
    }
    List<FiCaSchedulerApp> offered = new ArrayList<>(best);
    for (FiCaSchedulerApp attempt : all) {
      if (isUnknown(attempt)) {
        offered.add(attempt);
      }
    }
    return offered;
  }

  private boolean isUnknown(FiCaSchedulerApp attempt) {
    ApplicationId id = attempt.getApplicationId();
    if (unknown.isEmpty() || !unknown.containsKey(id)) {
      return false;
    }
    if (isKnown(id)) {
      unknown.remove(id);
      return false;
    }
    return true;
  }

  private boolean isKnown(ApplicationId application) {
    ApplicationRecord record = applications.find(application);
    return record != null && record.pendingKnown();
  }

  /**
   * A leaf queue's walk. The queue asks for another application only if it placed nothing of the
   * one before, so the walk knows which applications were named in vain.
   */
  private final class Walk implements Iterator<FiCaSchedulerApp> {
    private final Round round;
    private final boolean isInCoresOrder;
    private final Map<String, Boolean> usersAtLimit = new HashMap<>();
    private Iterator<FiCaSchedulerApp> candidates;
    private Predicate<FiCaSchedulerApp> mayGo;
    private Supplier<Iterator<FiCaSchedulerApp>> followers;
    private Supplier<Predicate<FiCaSchedulerApp>> mayFollow;
    private FiCaSchedulerApp next;
    private FiCaSchedulerApp offered;

    /**
     * @param isInCoresOrder whether the core is told what it named in vain
     */
    private Walk(
        Round round,
        Iterator<FiCaSchedulerApp> candidates,
        Predicate<FiCaSchedulerApp> mayGo,
        boolean isInCoresOrder) {
      this.round = round;
      this.isInCoresOrder = isInCoresOrder;
      this.candidates = candidates;
      this.mayGo = mayGo;
    }

    /** Those of the base order follow; the core is asked only if the queue gets that far. */
    private void follow(
        Supplier<Iterator<FiCaSchedulerApp>> inBaseOrder,
        Supplier<Predicate<FiCaSchedulerApp>> rest) {
      followers = inBaseOrder;
      mayFollow = rest;
    }

    @Override
    public boolean hasNext() {
      if (next == null) {
        next = guard.supply("order", null, this::find);
      }
      return next != null;
    }

    @Override
    public FiCaSchedulerApp next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      offered = next;
      next = null;
      round.offered(offered);
      return offered;
    }

    /** CapacityScheduler tells the limit to the application masters that it skips. */
    private boolean isOfUserAtLimit(FiCaSchedulerApp candidate) {
      return usersAtLimit.getOrDefault(candidate.getUser(), false)
          && !candidate.isWaitingForAMContainer();
    }

    private FiCaSchedulerApp find() {
      if (offered != null) {
        if (isInCoresOrder) {
          round.skipped(offered);
        }
        FiCaSchedulerApp skipped = offered;
        usersAtLimit.computeIfAbsent(
            skipped.getUser(), user -> round.isUserAtLimit(QueueOrder.this, skipped));
        offered = null;
      }
      while (true) {
        while (candidates.hasNext()) {
          FiCaSchedulerApp candidate = candidates.next();
          if (mayGo.test(candidate) && !round.isLeftOut(candidate) && !isOfUserAtLimit(candidate)) {
            return candidate;
          }
        }
        if (followers == null) {
          return null;
        }
        mayGo = mayFollow.get();
        candidates = followers.get();
        followers = null;
      }
    }
  }
}
