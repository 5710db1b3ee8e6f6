package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Unix time in milliseconds that never jumps: the machine's time at construction plus the elapsed
 * monotonic time. Setting the machine's clock therefore makes no agent's report look fresh or
 * stale.
 */
final class SteadyClock {
  private final long beginMs;
  private final long beginNs;
  private final LongSupplier elapsedNs;

  SteadyClock() {
    this(System::currentTimeMillis, System::nanoTime);
  }

  /**
   * @param machineMs the machine's Unix time, read once
   * @param elapsedNs a monotonic time with any origin
   */
  SteadyClock(LongSupplier machineMs, LongSupplier elapsedNs) {
    this.elapsedNs = elapsedNs;
    beginMs = machineMs.getAsLong();
    beginNs = elapsedNs.getAsLong();
  }

  long nowMs() {
    return beginMs + TimeUnit.NANOSECONDS.toMillis(elapsedNs.getAsLong() - beginNs);
  }
}
