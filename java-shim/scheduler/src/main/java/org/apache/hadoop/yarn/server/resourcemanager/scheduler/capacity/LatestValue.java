package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.Supplier;
import org.apache.hadoop.yarn.util.Clock;

/** A value that costs much and may be asked for at any rate. */
final class LatestValue<T> {
  private static final long A_SECOND_MS = 1000;

  private final Supplier<T> source;
  private final Clock clock;
  private final long validForMs;
  private volatile boolean isForgotten;
  private T latest;
  private long latestMs;

  /** At most a second old. */
  LatestValue(Supplier<T> source, Clock clock) {
    this(source, clock, A_SECOND_MS);
  }

  /**
   * @param source never gives null; what it throws reaches the caller, and the next one asks again
   */
  LatestValue(Supplier<T> source, Clock clock, long validForMs) {
    this.source = source;
    this.clock = clock;
    this.validForMs = validForMs;
  }

  synchronized T get() {
    long nowMs = clock.getTime();
    if (isForgotten) {
      isForgotten = false;
      latest = null;
    }
    if (latest == null || nowMs - latestMs >= validForMs) {
      latest = source.get();
      latestMs = nowMs;
    }
    return latest;
  }

  /**
   * The next one who asks gets a value that is made after this call. Waits for nobody who asks now:
   * it may be called with the scheduler's lock.
   */
  void forget() {
    isForgotten = true;
  }
}
