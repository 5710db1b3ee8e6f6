package org.elastane.spark;

import java.util.concurrent.Callable;
import java.util.function.Predicate;

/** Waits for what another thread or process does. */
final class Deadline {
  private static final long SECONDS = 60;

  private Deadline() {}

  static <T> T await(Callable<T> value, Predicate<T> condition) throws Exception {
    long end = System.nanoTime() + SECONDS * 1_000_000_000L;
    T last = value.call();
    while (!condition.test(last)) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError("not within " + SECONDS + " s, the last value: " + last);
      }
      Thread.sleep(20);
      last = value.call();
    }
    return last;
  }
}
