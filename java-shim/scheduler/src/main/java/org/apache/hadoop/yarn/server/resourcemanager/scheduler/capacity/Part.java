package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.LongSupplier;
import org.elastane.retry.Backoff;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A part of Elastane that fails alone. The first failure of a series and the recovery are logged,
 * every failure is counted, and the next attempt waits 1 s to 60 s.
 */
final class Part {
  private static final Logger LOG = LoggerFactory.getLogger(Part.class);
  private static final long FIRST_WAIT_MS = 1000;
  private static final long LONGEST_WAIT_MS = 60_000;

  private final String name;
  private final ElastaneMetrics metrics;
  private final LongSupplier clockMs;
  private final Backoff backoff = new Backoff(FIRST_WAIT_MS, LONGEST_WAIT_MS);
  private boolean inService = true;
  private long dueMs;

  /**
   * @param clockMs a time that never goes back
   */
  Part(String name, ElastaneMetrics metrics, LongSupplier clockMs) {
    this.name = name;
    this.metrics = metrics;
    this.clockMs = clockMs;
  }

  String name() {
    return name;
  }

  synchronized boolean isInService() {
    return inService;
  }

  /** The time until this part may be used again; 0 while it is in service. */
  synchronized long waitMs() {
    return inService ? 0 : Math.max(0, dueMs - clockMs.getAsLong());
  }

  synchronized void failed(Throwable cause) {
    metrics.partFailed();
    if (inService) {
      LOG.error("Elastane goes on without {}; will retry", name, cause);
    }
    inService = false;
    dueMs = clockMs.getAsLong() + backoff.failed();
  }

  synchronized void succeeded() {
    if (!inService) {
      inService = true;
      backoff.succeeded();
      LOG.warn("{}: in service again", name);
    }
  }
}
