package org.elastane.depository;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
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

/**
 * The directory with the copies in a Hadoop file system, accessible to its owner only.
 *
 * <p>Make one and keep it: a FileContext has its own client and cannot be closed.
 */
final class SharedDirectory {
  static final String SUFFIX = ".sqlite";
  private static final String UNFINISHED = ".new";
  private static final FsPermission FOR_OWNER = new FsPermission((short) 0600);
  private static final FsPermission DIRECTORY_FOR_OWNER = new FsPermission((short) 0700);

  private final FileContext files;
  private final Path directory;

  SharedDirectory(Configuration conf, Path directory) throws IOException {
    files = FileContext.getFileContext(directory.toUri(), conf);
    this.directory = directory;
  }

  /** The copies in the directory, the newest first; none if the directory is missing. */
  List<FileStatus> copies() throws IOException {
    List<FileStatus> found = new ArrayList<>();
    RemoteIterator<FileStatus> listed;
    try {
      listed = files.listStatus(directory);
    } catch (FileNotFoundException e) {
      return found;
    }
    while (listed.hasNext()) {
      FileStatus file = listed.next();
      if (file.isFile() && file.getPath().getName().endsWith(SUFFIX)) {
        found.add(file);
      }
    }
    found.sort(Comparator.comparingLong(FileStatus::getModificationTime).reversed());
    return found;
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
