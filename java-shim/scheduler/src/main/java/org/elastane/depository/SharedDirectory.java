package org.elastane.depository;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory with the copies in a Hadoop file system, accessible to its owner only.
 *
 * <p>Make one and keep it: a FileContext has its own client and cannot be closed.
 */
final class SharedDirectory {
  private static final Logger LOG = LoggerFactory.getLogger(SharedDirectory.class);
  static final String SUFFIX = ".sqlite";
  private static final String UNFINISHED = ".new";
  private static final FsPermission FOR_OWNER = new FsPermission((short) 0600);
  private static final FsPermission DIRECTORY_FOR_OWNER = new FsPermission((short) 0700);

  private final FileContext files;
  private final Path directory;
  private final CopyOwner owner;
  private final Runnable countRefusal;
  private final Set<Path> refused = new HashSet<>();

  /**
   * @param countRefusal called once for each file that {@link #copies} leaves out
   */
  SharedDirectory(Configuration conf, Path directory, Runnable countRefusal) throws IOException {
    files = FileContext.getFileContext(directory.toUri(), conf);
    this.directory = directory;
    this.countRefusal = countRefusal;
    owner = CopyOwner.of(conf, directory, files);
  }

  /**
   * The copies in the directory, the newest first; none if the directory is missing. Leaves out
   * what another user can have written.
   */
  List<FileStatus> copies() throws IOException {
    List<FileStatus> found = new ArrayList<>();
    RemoteIterator<FileStatus> listed;
    try {
      if (isRefused(files.getFileStatus(directory))) {
        return found;
      }
      listed = files.listStatus(directory);
    } catch (FileNotFoundException e) {
      return found;
    }
    while (listed.hasNext()) {
      FileStatus file = listed.next();
      boolean isCopy = file.isFile() && file.getPath().getName().endsWith(SUFFIX);
      if (isCopy && !isRefused(file)) {
        found.add(file);
      }
    }
    found.sort(Comparator.comparingLong(FileStatus::getModificationTime).reversed());
    return found;
  }

  private boolean isRefused(FileStatus file) {
    String objection = owner.objection(file);
    if (objection != null && refused.add(file.getPath())) {
      countRefusal.run();
      LOG.error(
          file.isDirectory()
              ? "No copy in {} is taken over: {}. Give it to that user, with mode 700"
              : "{} is not taken over: {}. Remove it if you do not know it",
          file.getPath(),
          objection);
    }
    return objection != null;
  }

  void fetch(FileStatus copy, java.nio.file.Path local) throws IOException {
    try (FSDataInputStream from = files.open(copy.getPath())) {
      Files.copy(from, local, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  /** Makes the directory if it is missing. */
  void make() throws IOException {
    files.mkdir(directory, DIRECTORY_FOR_OWNER, true);
  }

  /** Publishes a copy, which appears complete or not at all. */
  void put(java.nio.file.Path local, String name) throws IOException {
    Path copy = new Path(directory, name + SUFFIX);
    Path unfinished = copy.suffix(UNFINISHED);
    EnumSet<CreateFlag> replacing = EnumSet.of(CreateFlag.CREATE, CreateFlag.OVERWRITE);
    try (FSDataOutputStream to = files.create(unfinished, replacing, CreateOpts.perms(FOR_OWNER))) {
      Files.copy(local, to);
      to.hsync();
    }
    files.rename(unfinished, copy, Rename.OVERWRITE);
  }
}
