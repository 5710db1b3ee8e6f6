package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/** An application that the core knows. */
final class ApplicationRecord {
  final ApplicationId id;
  final int number;

  private volatile Entry entry;
  private volatile boolean pendingKnown;
  private PendingAsks lastTold;
  private ContainerId unusedContainerId;

  ApplicationRecord(ApplicationId id, int number) {
    this.id = id;
    this.number = number;
  }

  /** Where the running attempt waits; null while no queue of ours may schedule it. */
  Entry entry() {
    return entry;
  }

  void enter(QueueOrder queue, FiCaSchedulerApp attempt) {
    entry = new Entry(queue, attempt);
  }

  /** Forgets the entry, unless the application has entered another queue since. */
  void leave(QueueOrder queue) {
    Entry current = entry;
    if (current != null && current.queue == queue) {
      entry = null;
    }
  }

  /** Whether the core was ever told what this application waits for. */
  boolean pendingKnown() {
    return pendingKnown;
  }

  /**
   * Tells the core what the attempt waits for, if that changed.
   *
   * <p>Reading and telling are one step: the threads that call this see the asks change in
   * different orders, and the last one told must be the newest.
   *
   * @param attempt null when nothing of the application may be scheduled
   */
  synchronized void tellPending(CoreHandle core, FiCaSchedulerApp attempt) {
    PendingAsks asks = attempt == null ? PendingAsks.NONE : PendingAsks.of(attempt);
    if (asks.sameAs(lastTold) || (attempt == null && lastTold == null)) {
      return;
    }
    core.pending(number, asks);
    lastTold = asks;
    pendingKnown = true;
  }

  /**
   * An id for the attempt's next container. One that was given back is used first, so that refused
   * commits leave no gaps: the first container of an attempt stays the ApplicationMaster's.
   */
  synchronized ContainerId takeContainerId(FiCaSchedulerApp attempt) {
    ApplicationAttemptId attemptId = attempt.getApplicationAttemptId();
    ContainerId unused = unusedContainerId;
    if (unused != null && unused.getApplicationAttemptId().equals(attemptId)) {
      unusedContainerId = null;
      return unused;
    }
    return ContainerId.newContainerId(attemptId, attempt.getNewContainerId());
  }

  synchronized void giveBackContainerId(ContainerId unused) {
    unusedContainerId = unused;
  }

  /** A queue of ours and the attempt that it may schedule. */
  static final class Entry {
    final QueueOrder queue;
    final FiCaSchedulerApp attempt;

    Entry(QueueOrder queue, FiCaSchedulerApp attempt) {
      this.queue = queue;
      this.attempt = attempt;
    }
  }
}
