package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.elastane.usage.UsageServer;

/** Opens the port for agents' reports, and tries again on a thread of its own until it is open. */
final class UsagePort {
  private final Part part;
  private final UsageServer server;
  private ScheduledExecutorService retries;
  private boolean stopped;

  UsagePort(Part part, UsageServer server) {
    this.part = part;
    this.server = server;
  }

  UsageServer server() {
    return server;
  }

  void start() {
    if (!open()) {
      retries =
          Executors.newSingleThreadScheduledExecutor(
              work -> {
                Thread daemon = new Thread(work, "elastane-usage-port");
                daemon.setDaemon(true);
                return daemon;
              });
      openLater();
    }
  }

  /** Closes the port if it is open. */
  void stop() {
    if (retries != null) {
      // Before the lock, which an attempt holds.
      retries.shutdownNow();
    }
    synchronized (this) {
      stopped = true;
      server.stop();
    }
  }

  private synchronized boolean open() {
    if (stopped) {
      return true;
    }
    try {
      server.start();
      part.succeeded();
      return true;
    } catch (IOException | RuntimeException | LinkageError e) {
      part.failed(e);
      return false;
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // open() logs its own failures
  private void openLater() {
    try {
      retries.schedule(
          () -> {
            if (open()) {
              retries.shutdown();
            } else {
              openLater();
            }
          },
          part.waitMs(),
          TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // stopped meanwhile
    }
  }
}
