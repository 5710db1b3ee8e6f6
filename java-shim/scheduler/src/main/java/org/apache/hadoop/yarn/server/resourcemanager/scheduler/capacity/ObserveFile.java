package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file that turns everything to observe while it exists. Elastane never opens it.
 *
 * <p>By default it lies below {@code hadoop.tmp.dir}, which is often in {@code /tmp}. So it counts
 * only if the ResourceManager's user, root, or those to whom they gave the directory made it.
 */
final class ObserveFile {
  private static final Logger LOG = LoggerFactory.getLogger(ObserveFile.class);
  private static final int ROOT = 0;
  private static final int WRITABLE_BY_OTHERS = 02;

  private final Path path;
  private final int ownUid;
  private boolean isRefused;

  /**
   * @param path null for none
   */
  ObserveFile(Path path) {
    this(path, ownUid());
  }

  ObserveFile(Path path, int ownUid) {
    this.path = path;
    this.ownUid = ownUid;
  }

  /**
   * Whether it exists and counts.
   *
   * @param wasThere what holds while it is out of reach
   */
  synchronized boolean isThere(boolean wasThere) {
    if (path == null) {
      return false;
    }
    try {
      int uid = (int) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
      Path parent = path.toAbsolutePath().resolve("..").normalize();
      Map<String, Object> directory = Files.readAttributes(parent, "unix:uid,mode");
      int directoryUid = (int) directory.get("uid");
      int directoryMode = (int) directory.get("mode") & 07777;
      boolean counts = isTrusted(ownUid, directoryUid, directoryMode, uid);
      if (!counts && !isRefused) {
        LOG.error(
            "{} of user {} does not count: its directory is user {}'s, with mode {}. Make both as"
                + " root or as the ResourceManager's user, {}",
            path,
            uid,
            directoryUid,
            Integer.toOctalString(directoryMode),
            ownUid);
      }
      isRefused = !counts;
      return counts;
    } catch (NoSuchFileException e) {
      isRefused = false;
      return false;
    } catch (IOException e) {
      return wasThere;
    }
  }

  /** A directory that others cannot write has only files of those to whom its owner gave it. */
  static boolean isTrusted(int ownUid, int directoryUid, int directoryMode, int uid) {
    boolean isDirectoryOwn = directoryUid == ownUid || directoryUid == ROOT;
    boolean isOwn = uid == ownUid || uid == ROOT;
    return isDirectoryOwn && (isOwn || (directoryMode & WRITABLE_BY_OTHERS) == 0);
  }

  static int ownUid() {
    try {
      return (int) Files.getAttribute(Paths.get("/proc/self"), "unix:uid");
    } catch (IOException e) {
      LOG.error("Cannot tell the user of this process: only root's observe file counts", e);
      return ROOT;
    }
  }

  @Override
  public String toString() {
    return String.valueOf(path);
  }
}
