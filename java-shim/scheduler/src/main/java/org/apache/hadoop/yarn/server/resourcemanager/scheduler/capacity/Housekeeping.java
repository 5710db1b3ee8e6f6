package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.hadoop.util.Time;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Work for which heartbeats wake a thread once a second. It visits all nodes, which takes
 * milliseconds in a large cluster, and other heartbeats would wait meanwhile.
 */
final class Housekeeping {
  private static final Logger LOG = LoggerFactory.getLogger(Housekeeping.class);

  static final long INTERVAL_MS = 1000;
  private static final long CLOSE_WAIT_MS = 5000;

  private final CoreGuard guard;
  private final Runnable work;
  private final LongSupplier clockMs;
  private final AtomicLong nextMs;
  private final AtomicBoolean underWay = new AtomicBoolean();
  private final ExecutorService executor =
      // Has no thread before the first heartbeat: a standby needs none.
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.MILLISECONDS,
          new LinkedBlockingQueue<>(),
          task -> {
            Thread thread = new Thread(task, "elastane-housekeeping");
            thread.setDaemon(true);
            return thread;
          },
          // Work that a heartbeat begins while the scheduler stops is left out.
          new ThreadPoolExecutor.DiscardPolicy());

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
          try {
            guard.always("housekeeping", work);
          } finally {
            underWay.set(false);
          }
        });
    return true;
  }

  /**
   * Ends the thread. Waits some seconds for work that is under way, as the core is closed next.
   * Later heartbeats do nothing.
   */
  void close() {
    nextMs.set(Long.MAX_VALUE);
    executor.shutdown();
    try {
      if (!executor.awaitTermination(CLOSE_WAIT_MS, TimeUnit.MILLISECONDS)) {
        LOG.warn("Housekeeping has not ended within {} ms", CLOSE_WAIT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
