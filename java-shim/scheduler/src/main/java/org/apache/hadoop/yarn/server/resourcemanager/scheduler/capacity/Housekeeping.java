package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.hadoop.util.Time;

/**
 * Work that a heartbeat asks for once a second, on a thread of its own. It goes through all nodes,
 * which takes milliseconds in a large cluster, and other heartbeats would wait.
 */
final class Housekeeping {
  static final long INTERVAL_MS = 1000;

  private final CoreGuard guard;
  private final Runnable work;
  private final LongSupplier clockMs;
  private final AtomicLong nextMs;
  private final AtomicBoolean underWay = new AtomicBoolean();
  private final ExecutorService executor =
      // Has no thread before the first heartbeat: a standby needs none.
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, "elastane-housekeeping");
            thread.setDaemon(true);
            return thread;
          });

  Housekeeping(CoreGuard guard, Runnable work) {
    this(guard, work, Time::monotonicNow);
  }

  /**
   * @param clockMs monotonic
   */
  Housekeeping(CoreGuard guard, Runnable work, LongSupplier clockMs) {
    this.guard = guard;
    this.work = work;
    this.clockMs = clockMs;
    nextMs = new AtomicLong(clockMs.getAsLong());
  }

  /** Has the work done where it is due and not under way. Does not wait for it. */
  void heartbeat() {
    long nowMs = clockMs.getAsLong();
    long dueMs = nextMs.get();
    if (nowMs >= dueMs
        && underWay.compareAndSet(false, true)
        && !(nextMs.compareAndSet(dueMs, nowMs + INTERVAL_MS)
            && guard.always("begin housekeeping", false, this::begin))) {
      underWay.set(false);
    }
  }

  private boolean begin() {
    executor.execute(
        () -> {
          guard.always("housekeeping", work);
          underWay.set(false);
        });
    return true;
  }

  /** Ends the thread, after work that is under way. Later heartbeats do nothing. */
  void close() {
    nextMs.set(Long.MAX_VALUE);
    executor.shutdown();
  }
}
