package org.elastane.depository;

import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.elastane.conf.ElastaneConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies of depositories in a directory of a Hadoop file system, one of each ResourceManager.
 *
 * <p>The active one takes over what the others have learned when it becomes active, and puts its
 * own copy there every few minutes. Both happen on a thread of this class, so that neither a
 * heartbeat nor the election waits for a file system. What fails is logged once until it works
 * again, counted, and tried again soon.
 */
public final class SharedDepository implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedDepository.class);

  /** A file system that was away most often is back soon, and meanwhile nothing is known. */
  private static final int RETRY_MS = 10_000;

  private final Configuration conf;
  private final Path directory;
  private final int everyMs;
  private final int retryMs;
  private final DepositoryCopies copies;
  private final Runnable countFailure;
  private final ScheduledExecutorService thread;
  private SharedDirectory shared;
  private boolean tookOver;
  private boolean failing;

  private SharedDepository(
      Configuration conf,
      Path directory,
      int everyMs,
      int retryMs,
      DepositoryCopies copies,
      Runnable countFailure) {
    this.conf = conf;
    this.directory = directory;
    this.everyMs = everyMs;
    this.retryMs = retryMs;
    this.copies = copies;
    this.countFailure = countFailure;
    thread =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread daemon = new Thread(work, "elastane-shared-depository");
              daemon.setDaemon(true);
              return daemon;
            });
  }

  /**
   * Refuses a configuration that {@link #start} could not follow.
   *
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  public static void check(Configuration conf) {
    ElastaneConfiguration.depositoryShared(conf);
    ElastaneConfiguration.depositorySharedEveryMs(conf);
  }

  /**
   * Starts to share, if the configuration names a directory.
   *
   * @return null when nothing is shared
   */
  public static SharedDepository start(
      Configuration conf, DepositoryCopies copies, Runnable countFailure) {
    int everyMs = ElastaneConfiguration.depositorySharedEveryMs(conf);
    return start(conf, everyMs, RETRY_MS, copies, countFailure);
  }

  static SharedDepository start(
      Configuration conf,
      int everyMs,
      int retryMs,
      DepositoryCopies copies,
      Runnable countFailure) {
    Path directory = ElastaneConfiguration.depositoryShared(conf);
    if (directory == null) {
      return null;
    }
    SharedDepository shared =
        new SharedDepository(conf, directory, everyMs, retryMs, copies, countFailure);
    shared.thread.execute(shared::shareAndGoOn);
    return shared;
  }

  /** Ends the thread. What it is doing may go on, but nobody waits for it. */
  @Override
  public void close() {
    thread.shutdownNow();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // what share() throws it has logged itself
  private void shareAndGoOn() {
    share();
    try {
      int waitMs = failing ? Math.min(retryMs, everyMs) : everyMs;
      thread.schedule(this::shareAndGoOn, waitMs, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      // closed meanwhile
    }
  }

  private void share() {
    try {
      if (shared == null) {
        shared = new SharedDirectory(conf, directory);
      }
      if (!tookOver) {
        takeOverAll();
        tookOver = true;
      }
      publish();
      if (failing) {
        LOG.info("The depository is shared again in {}", directory);
      }
      failing = false;
    } catch (IOException | RuntimeException | LinkageError e) {
      // A LinkageError: some jar of that file system is not there.
      failed(e);
    }
  }

  /** Counts it, and says it once until it works again; the end of sharing is no failure. */
  private void failed(Throwable cause) {
    if (thread.isShutdown()) {
      return;
    }
    countFailure.run();
    if (!failing) {
      LOG.error("The depository is not shared in {}; it is tried again", directory, cause);
    }
    failing = true;
  }

  /**
   * The newest first, so that what matters most is there soonest. Nothing is written, so that a
   * file system that can only be read, as HDFS in safe mode, is enough.
   */
  private void takeOverAll() throws IOException {
    for (FileStatus copy : shared.copies()) {
      java.nio.file.Path local =
          Files.createTempFile("elastane-taken-over-", SharedDirectory.SUFFIX);
      try {
        shared.fetch(copy, local);
        takeOver(copy, local);
      } finally {
        Files.deleteIfExists(local);
      }
    }
  }

  /**
   * One that is damaged, or of a newer Elastane, does not keep the others from being taken over.
   */
  private void takeOver(FileStatus copy, java.nio.file.Path local) {
    try {
      LOG.info("{} runs are taken over from {}", copies.takeOver(local), copy.getPath());
    } catch (IOException e) {
      if (!thread.isShutdown()) {
        countFailure.run();
        LOG.error("{} is not taken over: {}", copy.getPath(), e.getMessage());
      }
    }
  }

  private void publish() throws IOException {
    // First, so that nothing is copied for a file system that cannot be written.
    shared.make();
    java.nio.file.Path folder = Files.createTempDirectory("elastane-copy-");
    java.nio.file.Path local = folder.resolve("depository" + SharedDirectory.SUFFIX);
    try {
      copies.copyTo(local);
      shared.put(local, ElastaneConfiguration.resourceManagerId(conf));
    } finally {
      Files.deleteIfExists(local);
      Files.deleteIfExists(folder);
    }
  }
}
