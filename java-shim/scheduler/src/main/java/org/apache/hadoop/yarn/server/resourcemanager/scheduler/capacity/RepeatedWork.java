package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** Work that a thread of its own does again and again. A failure is counted, and ends nothing. */
final class RepeatedWork {
  private static final long LONGEST_STOP_MS = 1000;

  private final CoreGuard guard;
  private final String task;
  private final long intervalMs;
  private final Runnable work;
  private Thread thread;

  RepeatedWork(CoreGuard guard, String task, long intervalMs, Runnable work) {
    this.guard = guard;
    this.task = task;
    this.intervalMs = intervalMs;
    this.work = work;
  }

  void start() {
    thread = new Thread(this::repeat, "elastane-" + task.replace(' ', '-'));
    thread.setDaemon(true);
    thread.start();
  }

  /** Ends the thread, and waits for that for a second at most. */
  void stop() {
    if (thread != null) {
      thread.interrupt();
      try {
        thread.join(LONGEST_STOP_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      thread = null;
    }
  }

  private void repeat() {
    try {
      while (true) {
        guard.always(task, work);
        Thread.sleep(intervalMs);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
