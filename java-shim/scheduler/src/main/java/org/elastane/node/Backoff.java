package org.elastane.node;

/** The wait before the next attempt: doubles with every failure, up to a bound. */
final class Backoff {
  private final long firstMs;
  private final long mostMs;
  private long nextMs;

  Backoff(long firstMs, long mostMs) {
    this.firstMs = firstMs;
    this.mostMs = mostMs;
    this.nextMs = firstMs;
  }

  /** The wait after one more failure, in milliseconds. */
  long failed() {
    long waitMs = nextMs;
    nextMs = Math.min(2 * nextMs, mostMs);
    return waitMs;
  }

  void succeeded() {
    nextMs = firstMs;
  }
}
