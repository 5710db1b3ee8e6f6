package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a core where none is in service: after a failure by itself a few times, and whenever an
 * administrator refreshes the queues. The attempts are bounded, because a core that fails at the
 * same input again would raise and lower all nodes each time.
 */
final class CoreRecovery {
  private static final Logger LOG = LoggerFactory.getLogger(CoreRecovery.class);

  /** This long after the last attempt, attempts are counted anew. */
  private static final long FORGET_AFTER_MS = TimeUnit.HOURS.toMillis(1);

  private final CoreGuard guard;
  private final Runnable attempt;
  private long[] waitsMs = {5_000, 30_000, 120_000};
  private Thread thread;
  private int attempts;
  private long lastAttemptNs;
  private boolean asked;
  private boolean closed;

  /**
   * @param attempt opens a new core and puts it in service, or throws
   */
  CoreRecovery(CoreGuard guard, Runnable attempt) {
    this.guard = guard;
    this.attempt = attempt;
  }

  /** The core went out of service. */
  synchronized void coreFailed() {
    if (attempts > 0 && sinceLastAttemptMs() > FORGET_AFTER_MS) {
      attempts = 0;
    }
    start();
  }

  /** An administrator refreshed the queues. */
  synchronized void refreshed() {
    if (!guard.inService()) {
      attempts = 0;
      asked = true;
      notifyAll();
      start();
    }
  }

  /** Ends the attempts; one that is under way finds the core closed. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }

  /** The waits before the attempts that need no administrator. */
  synchronized void setWaitsForTest(long... testWaitsMs) {
    waitsMs = testWaitsMs;
  }

  private void start() {
    if (thread == null && !closed) {
      thread = new Thread(this::comeBack, "elastane-recovery");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void comeBack() {
    while (isDue()) {
      try {
        attempt.run();
        LOG.warn("Elastane's core is in service, and knows all nodes and applications");
      } catch (CoreHandle.CoreClosedException e) {
        LOG.debug("Closed meanwhile", e);
      } catch (Throwable t) {
        guard.takeOutOfService("open", t);
        LOG.error("Elastane's core could not be opened again", t);
      }
    }
  }

  /** Waits for the next attempt; false when none is to follow. */
  private synchronized boolean isDue() {
    boolean isOut = !guard.inService() && !closed;
    if (isOut && (asked || attempts < waitsMs.length)) {
      if (isWaitOver()) {
        attempts += asked ? 0 : 1;
        asked = false;
        lastAttemptNs = System.nanoTime();
        return true;
      }
    } else if (isOut) {
      LOG.error(
          "Elastane's core stays out of service after {} attempts to bring it back, until"
              + " `yarn rmadmin -refreshQueues`",
          attempts);
    }
    thread = null;
    return false;
  }

  /** False where the wait ended because of {@link #close()}. */
  private boolean isWaitOver() {
    long startNs = System.nanoTime();
    try {
      while (!closed && !asked) {
        long leftMs =
            waitsMs[attempts] - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
        if (leftMs <= 0) {
          return true;
        }
        wait(leftMs);
      }
      return !closed;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private long sinceLastAttemptMs() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - lastAttemptNs);
  }
}
