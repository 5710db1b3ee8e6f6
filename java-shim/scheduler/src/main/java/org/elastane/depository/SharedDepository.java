package org.elastane.depository;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.Map;
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
 * Copies of depositories in a directory of a Hadoop file system, one for each ResourceManager.
 *
 * <p>A ResourceManager that becomes active imports all copies. Every few minutes it publishes its
 * own, and imports those of others that have changed: in a federation several ResourceManagers are
 * active. All of this happens on a thread of this class, so neither a heartbeat nor the election
 * waits for the file system. Failures are counted and retried after a short wait; the first of a
 * series is logged.
 */
public final class SharedDepository implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedDepository.class);

  /** Short, because nothing is imported until the file system is back. */
  private static final int RETRY_MS = 10_000;

  private final Configuration conf;
  private final Path directory;
  private final int everyMs;
  private final int retryMs;
  private final DepositoryCopies copies;
  private final Runnable countFailure;
  private final ScheduledExecutorService thread;

  /** The modification times of the copies that were imported, or were damaged. */
  private final Map<Path, Long> seenMs = new HashMap<>();

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
   * Checks the keys that {@link #start} reads.
   *
   * @throws IllegalArgumentException naming the key, its value and the allowed values
   */
  public static void check(Configuration conf) {
    ElastaneConfiguration.depositoryShared(conf);
    ElastaneConfiguration.depositorySharedEveryMs(conf);
  }

  /**
   * Starts to share if the configuration names a directory.
   *
   * @return null if it names none
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

  /** Ends the thread without waiting for its current work. */
  @Override
  public void close() {
    thread.shutdownNow();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // share() logs its own failures
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
        shared = new SharedDirectory(conf, directory, countFailure);
      }
      takeOverChanged();
      tookOver = true;
      publish();
      if (failing) {
        LOG.info("The depository is shared again in {}", directory);
      }
      failing = false;
    } catch (IOException | RuntimeException | LinkageError e) {
      // LinkageError: a jar of that file system is missing.
      failed(e);
    }
  }

  /** Counts a failure and logs the first of a series. A failure after {@link #close} is neither. */
  private void failed(Throwable cause) {
    if (thread.isShutdown()) {
      return;
    }
    countFailure.run();
    if (!failing) {
      LOG.error("The depository is not shared in {}; will retry", directory, cause);
    }
    failing = true;
  }

  /**
   * Imports the newest copy first, as the most useful one. Writes nothing, so a read-only file
   * system is enough, such as HDFS in safe mode.
   */
  private void takeOverChanged() throws IOException {
    for (FileStatus copy : shared.copies()) {
      if (isSeen(copy)) {
        continue;
      }
      java.nio.file.Path local =
          Files.createTempFile("elastane-taken-over-", SharedDirectory.SUFFIX);
      try {
        shared.fetch(copy, local);
        takeOver(copy, local);
      } finally {
        Files.deleteIfExists(local);
      }
      seenMs.put(copy.getPath(), copy.getModificationTime());
    }
  }

  /** Its own copy helps only at the start, if its disk is lost; later each change is its own. */
  private boolean isSeen(FileStatus copy) {
    if (copy.getPath().getName().equals(ownName() + SharedDirectory.SUFFIX)) {
      return tookOver;
    }
    return seenMs.getOrDefault(copy.getPath(), -1L) == copy.getModificationTime();
  }

  private String ownName() {
    return ElastaneConfiguration.depositoryCopyName(conf);
  }

  /** A damaged copy, or one of a newer Elastane, does not prevent the import of the others. */
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
    // First: fails before the copy is made if the file system cannot be written.
    shared.make();
    java.nio.file.Path folder = Files.createTempDirectory("elastane-copy-");
    java.nio.file.Path local = folder.resolve("depository" + SharedDirectory.SUFFIX);
    try {
      copies.copyTo(local);
      shared.put(local, ownName());
    } finally {
      Files.deleteIfExists(local);
      Files.deleteIfExists(folder);
    }
  }
}
