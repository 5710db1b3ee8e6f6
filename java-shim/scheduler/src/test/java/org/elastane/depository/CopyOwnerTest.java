package org.elastane.depository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.junit.jupiter.api.Test;

class CopyOwnerTest {
  private static final CopyOwner YARN = new CopyOwner(Collections.singleton("yarn"), true);

  private static FileStatus file(String owner, int mode) {
    FsPermission permission = new FsPermission((short) mode);
    Path path = new Path("hdfs:///elastane/rm2.sqlite");
    return new FileStatus(1, false, 1, 1, 0, 0, permission, owner, "hadoop", path);
  }

  @Test
  void onlyFilesThatNobodyElseCanHaveWrittenAreTaken() {
    assertNull(YARN.objection(file("yarn", 0600)));
    assertNull(YARN.objection(file("yarn", 0644)), "who reads it is no question of what is in it");
    assertEquals("it belongs to alice, not to yarn", YARN.objection(file("alice", 0600)));
    assertEquals("it belongs to nobody known, not to yarn", YARN.objection(file("", 0600)));
    assertEquals("its mode rw-rw---- lets others write it", YARN.objection(file("yarn", 0660)));
    assertEquals("its mode rw----rw- lets others write it", YARN.objection(file("yarn", 0606)));
  }

  @Test
  void aFileSystemWithoutModesIsTrusted() {
    CopyOwner anybody = new CopyOwner(Collections.singleton("yarn"), false);
    assertNull(anybody.objection(file("alice", 0666)));
  }

  @Test
  void theLocalFileSystemHasModes() throws Exception {
    Path local = new Path("file:///tmp/elastane");
    Configuration conf = new Configuration();
    CopyOwner owner = CopyOwner.of(conf, local, FileContext.getFileContext(local.toUri(), conf));
    assertNull(owner.objection(file(System.getProperty("user.name"), 0600)));
    assertEquals(
        "its mode rw-rw-rw- lets others write it",
        owner.objection(file(System.getProperty("user.name"), 0666)));
  }
}
