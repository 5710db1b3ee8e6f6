package org.elastane.depository;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Options.CreateOpts;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.fs.permission.FsPermission;
import org.elastane.conf.ElastaneConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Copies of depositories in a directory of a Hadoop file system, one of each ResourceManager.
 *
 * <p>The active one takes over what the others have learned when it becomes active, and puts its
 * own copy there every few minutes. Both happen on a thread of this class, so that neither a
 * heartbeat nor the election waits for a file system. What fails is logged once until it works
 * again, counted, and tried again at the next time.
 */
public final class SharedDepository implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedDepository.class);
  private static final String SUFFIX = ".sqlite";
  private static final String UNFINISHED = ".new";
  private static final FsPermission FOR_OWNER = new FsPermission((short) 0600);
  private static final FsPermission DIRECTORY_FOR_OWNER = new FsPermission((short) 0700);

  private final Configuration conf;
  private final Path directory;
  private final Path own;
  private final DepositoryCopies copies;
  private final Runnable countFailure;
  private final ScheduledExecutorService thread;
  private boolean tookOver;
  private boolean failing;

  private SharedDepository(
      Configuration conf, Path directory, DepositoryCopies copies, Runnable countFailure) {
    this.conf = conf;
    this.directory = directory;
    this.copies = copies;
    this.countFailure = countFailure;
    own = new Path(directory, ElastaneConfiguration.resourceManagerId(conf) + SUFFIX);
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
    return start(conf, everyMs, copies, countFailure);
  }

  @SuppressWarnings("FutureReturnValueIgnored") // what share() throws it has logged itself
  static SharedDepository start(
      Configuration conf, int everyMs, DepositoryCopies copies, Runnable countFailure) {
    Path directory = ElastaneConfiguration.depositoryShared(conf);
    if (directory == null) {
      return null;
    }
    SharedDepository shared = new SharedDepository(conf, directory, copies, countFailure);
    shared.thread.scheduleWithFixedDelay(shared::share, 0, everyMs, TimeUnit.MILLISECONDS);
    return shared;
  }

  /** Ends the thread. What it is doing may go on, but nobody waits for it. */
  @Override
  public void close() {
    thread.shutdownNow();
  }

  private void share() {
    try {
      FileContext files = FileContext.getFileContext(directory.toUri(), conf);
      files.mkdir(directory, DIRECTORY_FOR_OWNER, true);
      if (!tookOver) {
        takeOverAll(files);
        tookOver = true;
      }
      publish(files);
      if (failing) {
        LOG.info("The depository is shared again in {}", directory);
      }
      failing = false;
    } catch (IOException | RuntimeException e) {
      if (thread.isShutdown()) {
        return;
      }
      countFailure.run();
      if (!failing) {
        LOG.error("The depository is not shared in {}; it is tried again", directory, e);
      }
      failing = true;
    }
  }

  /** The newest first, so that what matters most is there soonest. */
  private void takeOverAll(FileContext files) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    RemoteIterator<FileStatus> listed = files.listStatus(directory);
    while (listed.hasNext()) {
      FileStatus file = listed.next();
      if (file.isFile() && file.getPath().getName().endsWith(SUFFIX)) {
        found.add(file);
      }
    }
    found.sort(Comparator.comparingLong(FileStatus::getModificationTime).reversed());
    for (FileStatus file : found) {
      java.nio.file.Path local = Files.createTempFile("elastane-taken-over-", SUFFIX);
      try {
        try (FSDataInputStream from = files.open(file.getPath())) {
          Files.copy(from, local, StandardCopyOption.REPLACE_EXISTING);
        }
        takeOver(file, local);
      } finally {
        Files.deleteIfExists(local);
      }
    }
  }

  /**
   * One that is damaged, or of a newer Elastane, does not keep the others from being taken over.
   */
  private void takeOver(FileStatus file, java.nio.file.Path local) {
    try {
      LOG.info("{} runs are taken over from {}", copies.takeOver(local), file.getPath());
    } catch (IOException e) {
      countFailure.run();
      LOG.error("{} is not taken over: {}", file.getPath(), e.getMessage());
    }
  }

  /** The copy appears as a whole or not at all. */
  private void publish(FileContext files) throws IOException {
    java.nio.file.Path folder = Files.createTempDirectory("elastane-copy-");
    java.nio.file.Path local = folder.resolve("depository" + SUFFIX);
    Path unfinished = own.suffix(UNFINISHED);
    try {
      copies.copyTo(local);
      EnumSet<CreateFlag> replacing = EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE);
      try (FSDataOutputStream to =
          files.create(unfinished, replacing, CreateOpts.perms(FOR_OWNER))) {
        Files.copy(local, to);
        to.hsync();
      }
      files.rename(unfinished, own, Rename.OVERWRITE);
    } finally {
      Files.deleteIfExists(local);
      Files.deleteIfExists(folder);
    }
  }
}
