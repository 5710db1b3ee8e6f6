package org.elastane.spark;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/** Runs one half of the plugin until its first failure, which is logged and turns the half off. */
final class Guard {
  interface Step<T> {
    T run() throws Exception;
  }

  interface Action {
    void run() throws Exception;
  }

  private final String whenOff;
  private final AtomicBoolean off = new AtomicBoolean();

  /**
   * @param whenOff what it means for the user that the half is off
   */
  Guard(String whenOff) {
    this.whenOff = whenOff;
  }

  boolean isOff() {
    return off.get();
  }

  /** Turns the half off without a message: a failure that follows is one of the shutdown. */
  void close() {
    off.set(true);
  }

  void run(Action action) {
    call(
        () -> {
          action.run();
          return null;
        },
        null);
  }

  /** Returns {@code otherwise} if the half is off or the step fails. */
  <T> T call(Step<T> step, T otherwise) {
    if (off.get()) {
      return otherwise;
    }
    try {
      return step.run();
    } catch (Throwable failure) {
      // LinkageError too: Spark takes it for fatal, and ends the application.
      turnOff(failure);
      return otherwise;
    }
  }

  private void turnOff(Throwable failure) {
    if (!off.compareAndSet(false, true)) {
      return;
    }
    try {
      LoggerFactory.getLogger(Guard.class).warn(whenOff, failure);
    } catch (Throwable unlogged) {
      // Without a logger there is nobody to tell.
    }
  }
}
