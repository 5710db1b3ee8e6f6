package org.elastane.depository;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.CommonPathCapabilities;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells files that only the ResourceManager's user can have written from others, by owner and mode.
 *
 * <p>A file system that keeps neither, such as an object store, decides by its own rules who may
 * write: all of its files are taken.
 */
final class CopyOwner {
  private static final Logger LOG = LoggerFactory.getLogger(CopyOwner.class);

  private final Set<String> names;
  private final boolean hasModes;

  /**
   * @param names the names that the file system may have for the ResourceManager's user
   */
  CopyOwner(Set<String> names, boolean hasModes) {
    this.names = names;
    this.hasModes = hasModes;
  }

  static CopyOwner of(Configuration conf, Path directory, FileContext files) throws IOException {
    Set<String> names = new LinkedHashSet<>();
    names.add(files.getUgi().getShortUserName());
    boolean hasModes;
    // FileContext does not know the capabilities of HDFS.
    try (FileSystem system = FileSystem.newInstance(directory.toUri(), conf)) {
      hasModes = system.hasPathCapability(directory, CommonPathCapabilities.FS_PERMISSIONS);
      if ("file".equals(system.getUri().getScheme())) {
        // With Kerberos, the short name is the principal's; a local file has the process's user.
        names.add(System.getProperty("user.name"));
      }
    }
    if (!hasModes) {
      LOG.warn(
          "The file system of {} keeps no owners and modes: every copy there is taken over, whoever"
              + " wrote it",
          directory);
    }
    return new CopyOwner(names, hasModes);
  }

  /** Why a file or directory is not taken; null if nobody else can have written it. */
  String objection(FileStatus file) {
    if (!hasModes) {
      return null;
    }
    String owner = file.getOwner();
    if (!names.contains(owner)) {
      String named = owner.isEmpty() ? "nobody known" : owner;
      return "it belongs to " + named + ", not to " + String.join(" or ", names);
    }
    FsPermission mode = file.getPermission();
    boolean isOpen =
        mode.getGroupAction().implies(FsAction.WRITE)
            || mode.getOtherAction().implies(FsAction.WRITE);
    return isOpen ? "its mode " + mode + " lets others write it" : null;
  }
}
