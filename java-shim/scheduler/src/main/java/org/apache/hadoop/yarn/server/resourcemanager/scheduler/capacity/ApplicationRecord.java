package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.elastane.natives.Natives;

/** An application that the core knows. */
final class ApplicationRecord {
  final ApplicationId id;
  final int number;

  private volatile Entry entry;
  private volatile boolean pendingKnown;
  private PendingAsks lastTold;
  private int lastToldStanding;
  private ContainerId unusedContainerId;

  /**
   * @param former the record of a former core, whose unused container id must not be lost; or null
   */
  ApplicationRecord(ApplicationId id, int number, ApplicationRecord former) {
    this.id = id;
    this.number = number;
    unusedContainerId = former == null ? null : former.takeUnusedContainerId();
  }

  private synchronized ContainerId takeUnusedContainerId() {
    ContainerId unused = unusedContainerId;
    unusedContainerId = null;
    return unused;
  }

  /** The attempt and its queue; null while no queue with Elastane's policy may schedule it. */
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

  /** Whether the core was ever told the pending asks of this application. */
  boolean pendingKnown() {
    return pendingKnown;
  }

  /**
   * Tells the core the attempt's pending asks if they changed.
   *
   * <p>In a queue with Elastane's ordering policy, an attempt that the queue does not let start yet
   * is told as held: the core names a bounded number of applications for each queue, and those must
   * not take their places.
   *
   * <p>Reads and tells under one lock: threads may see changes in different orders, and the core
   * must be told the newest asks last.
   *
   * @param attempt null if it has left its queue
   */
  synchronized void tellPending(CoreHandle core, FiCaSchedulerApp attempt, boolean queueIsOurs) {
    Entry current = entry;
    if (!queueIsOurs) {
      tell(core, attempt, Natives.STANDING_BY_ITS_QUEUE);
    } else if (current != null) {
      tell(core, current.attempt, Natives.STANDING_ORDERED);
    } else if (attempt != null && attempt.isWaitingForAMContainer()) {
      tell(core, attempt, Natives.STANDING_HELD);
    } else {
      tell(core, null, Natives.STANDING_ORDERED);
    }
  }

  /** The caller holds the lock. */
  private void tell(CoreHandle core, FiCaSchedulerApp attempt, int standing) {
    PendingAsks asks = attempt == null ? PendingAsks.NONE : PendingAsks.of(attempt);
    boolean told = asks.sameAs(lastTold) && standing == lastToldStanding;
    if (told || (attempt == null && lastTold == null)) {
      return;
    }
    core.pending(number, asks, standing);
    lastTold = asks;
    lastToldStanding = standing;
    pendingKnown = true;
  }

  /** Whether the asks that the core was told of last include one for a node label. */
  synchronized boolean asksForLabel() {
    return lastTold != null && lastTold.isForLabel();
  }

  /**
   * An id for the attempt's next container. Returned ids are used first, so refused commits leave
   * no gaps and an attempt's first container is always its ApplicationMaster's.
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

  /** A queue with Elastane's ordering policy, and the attempt that it may schedule. */
  static final class Entry {
    final QueueOrder queue;
    final FiCaSchedulerApp attempt;

    Entry(QueueOrder queue, FiCaSchedulerApp attempt) {
      this.queue = queue;
      this.attempt = attempt;
    }
  }
}
