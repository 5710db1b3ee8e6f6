package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.locks.Lock;

/**
 * Looks each second whether the observe file exists. Has a thread of its own: a file system that
 * hangs must not hold up a heartbeat.
 */
final class ObserveFileWatch {
  private static final long INTERVAL_MS = 1000;

  private final CoreGuard guard;
  private final LiveSettings settings;
  private final Lock lock;
  private final Runnable installPolicies;
  private Thread thread;

  /**
   * @param lock the scheduler's write lock
   * @param installPolicies called with the lock, after the mode changed
   */
  ObserveFileWatch(CoreGuard guard, LiveSettings settings, Lock lock, Runnable installPolicies) {
    this.guard = guard;
    this.settings = settings;
    this.lock = lock;
    this.installPolicies = installPolicies;
  }

  void start() {
    thread = new Thread(this::watch, "elastane-observe-file");
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the thread, and waits for that for a second at most. */
  void stop() {
    if (thread != null) {
      thread.interrupt();
      try {
        thread.join(INTERVAL_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      thread = null;
    }
  }

  private void watch() {
    try {
      while (true) {
        guard.always("observe file", this::look);
        Thread.sleep(INTERVAL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look() {
    // The mode changes without the lock, which a scheduler in trouble might never give.
    if (settings.follow()) {
      lock.lock();
      try {
        installPolicies.run();
      } finally {
        lock.unlock();
      }
    }
  }
}
