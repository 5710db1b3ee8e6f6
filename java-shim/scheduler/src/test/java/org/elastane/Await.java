package org.elastane;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assertions;

/** Waits for a condition, with a deadline. */
public final class Await {
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private Await() {}

  /** Returns as soon as {@code condition} holds; fails after 20 s. */
  public static void until(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        Assertions.fail("not within " + DEADLINE.toSeconds() + " s: " + what);
      }
      Thread.sleep(5);
    }
  }
}
