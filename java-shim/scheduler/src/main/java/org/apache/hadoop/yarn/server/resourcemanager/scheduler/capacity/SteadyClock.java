package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Unix time in milliseconds that goes on evenly: the machine's when this clock was made, and what
 * has passed since. Setting the machine's clock neither makes a silent agent look fresh nor one
 * that reports look silent.
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
   * @param elapsedNs a time that nobody can set, from any beginning
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
