package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayDeque;
import java.util.Deque;

/** Counts a test's random operations, and names the seed and the latest operations in a failure. */
final class Steps {
  private static final int NAMED = 30;

  private final long seed;
  private final Deque<String> latest = new ArrayDeque<>();
  private int count;

  /** One step, with its checks. */
  interface Step {
    void run() throws Exception;
  }

  Steps(long seed) {
    this.seed = seed;
  }

  /** The number of the current step. */
  int count() {
    return count;
  }

  boolean next(int steps) {
    return count++ < steps;
  }

  void does(String operation) {
    latest.add(operation);
    if (latest.size() > NAMED) {
      latest.remove();
    }
  }

  String last() {
    return latest.getLast();
  }

  void run(Step step) {
    try {
      step.run();
    } catch (AssertionError | Exception e) {
      throw new AssertionError(
          String.format(
              "seed %d, step %d: %s%nafter:%n  %s",
              seed, count, e.getMessage(), String.join("\n  ", latest)),
          e);
    }
  }
}
