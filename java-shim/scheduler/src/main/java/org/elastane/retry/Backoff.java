package org.elastane.retry;

/** The wait before the next attempt: doubles with every failure, up to a bound. */
public final class Backoff {
  private final long firstMs;
  private final long mostMs;
  private long nextMs;

  public Backoff(long firstMs, long mostMs) {
    this.firstMs = firstMs;
    this.mostMs = mostMs;
    this.nextMs = firstMs;
  }

  /** The wait after one more failure, in milliseconds. */
  public long failed() {
    long waitMs = nextMs;
    nextMs = Math.min(2 * nextMs, mostMs);
    return waitMs;
  }

  public void succeeded() {
    nextMs = firstMs;
  }
}
