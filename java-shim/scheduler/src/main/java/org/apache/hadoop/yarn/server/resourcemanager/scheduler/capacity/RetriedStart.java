package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Starts a part, and tries again on a thread of its own until the part has started. */
final class RetriedStart {
  private final Part part;
  private final String thread;
  private final Attempt attempt;
  private ScheduledExecutorService retries;
  private boolean stopped;

  /** One attempt to start the part. */
  interface Attempt {
    void run() throws IOException;
  }

  /**
   * @param thread the name of the thread that tries again
   */
  RetriedStart(Part part, String thread, Attempt attempt) {
    this.part = part;
    this.thread = thread;
    this.attempt = attempt;
  }

  void start() {
    if (!startNow()) {
      retries =
          Executors.newSingleThreadScheduledExecutor(
              work -> {
                Thread daemon = new Thread(work, thread);
                daemon.setDaemon(true);
                return daemon;
              });
      startLater();
    }
  }

  /** Ends the attempts, then runs this, which ends what an attempt started. */
  void stop(Runnable end) {
    if (retries != null) {
      // Before the lock, which an attempt holds.
      retries.shutdownNow();
    }
    synchronized (this) {
      stopped = true;
      end.run();
    }
  }

  private synchronized boolean startNow() {
    if (stopped) {
      return true;
    }
    try {
      attempt.run();
      part.succeeded();
      return true;
    } catch (IOException | RuntimeException | LinkageError e) {
      part.failed(e);
      return false;
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // startNow() logs its own failures
  private void startLater() {
    try {
      retries.schedule(
          () -> {
            if (startNow()) {
              retries.shutdown();
            } else {
              startLater();
            }
          },
          part.waitMs(),
          TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // stopped meanwhile
    }
  }
}
