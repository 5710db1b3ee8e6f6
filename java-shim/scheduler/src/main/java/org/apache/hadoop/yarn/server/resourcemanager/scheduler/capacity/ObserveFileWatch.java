package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.locks.Lock;

/**
 * Looks whether the observe file exists. To be called on a thread of its own: a file system that
 * hangs must not hold up a heartbeat.
 */
final class ObserveFileWatch {
  static final long INTERVAL_MS = 1000;

  private final LiveSettings settings;
  private final Lock lock;
  private final Runnable installPolicies;

  /**
   * @param lock the scheduler's write lock
   * @param installPolicies called with the lock, after the mode changed
   */
  ObserveFileWatch(LiveSettings settings, Lock lock, Runnable installPolicies) {
    this.settings = settings;
    this.lock = lock;
    this.installPolicies = installPolicies;
  }

  void look() {
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
