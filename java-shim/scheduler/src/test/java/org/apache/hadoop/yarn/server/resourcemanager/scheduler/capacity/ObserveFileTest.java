package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class ObserveFileTest {
  private static final int YARN = 1000;
  private static final int ALICE = 1001;

  @TempDir Path directory;

  private Path path;

  @BeforeEach
  void name() {
    path = directory.resolve("observe");
  }

  @Test
  void aFileOfTheResourceManagersUserCounts() throws Exception {
    ObserveFile file = new ObserveFile(path);
    assertFalse(file.isThere(false));
    Files.createFile(path);
    assertTrue(file.isThere(false));
    Files.delete(path);
    assertFalse(file.isThere(true));
    assertFalse(new ObserveFile(null).isThere(false));
  }

  @Test
  void aLinkCountsByItselfAndIsNotFollowed() throws Exception {
    Files.createSymbolicLink(path, directory.resolve("nowhere"));
    assertTrue(new ObserveFile(path).isThere(false));
  }

  @Test
  void whoeverMayPutAFileThereMustBeTheResourceManagersUserOrRoot() {
    assertTrue(ObserveFile.isTrusted(YARN, YARN, 0755, YARN));
    assertTrue(ObserveFile.isTrusted(YARN, 0, 0755, 0));
    assertTrue(ObserveFile.isTrusted(YARN, 0, 01777, YARN), "/tmp");
    assertTrue(ObserveFile.isTrusted(YARN, 0, 0775, ALICE), "an administrator's, by the group");
    assertFalse(ObserveFile.isTrusted(YARN, 0, 01777, ALICE), "anybody's in /tmp");
    assertFalse(ObserveFile.isTrusted(YARN, ALICE, 0755, ALICE), "in a directory made in /tmp");
    assertFalse(ObserveFile.isTrusted(YARN, ALICE, 0755, 0), "a link to a file of root's");
  }

  @Test
  void anotherUsersFileIsRefusedInOneLine() throws Exception {
    int uid = (int) Files.getAttribute(Files.createFile(path), "unix:uid");
    assumeTrue(uid != 0, "root's files always count");
    assertRefusedInOneLine(new ObserveFile(path, uid + 1));
  }

  @Test
  void aFileInAnotherUsersDirectoryIsRefusedInOneLine() throws Exception {
    Files.createFile(path);
    assumeTrue(ObserveFile.ownUid() == 0, "only root gives files away");
    Files.setAttribute(directory, "unix:uid", ALICE);
    try {
      assertRefusedInOneLine(new ObserveFile(path));
    } finally {
      Files.setAttribute(directory, "unix:uid", 0);
    }
  }

  private static void assertRefusedInOneLine(ObserveFile file) throws IOException {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(ObserveFile.class));
    try {
      for (int i = 0; i < 3; i++) {
        assertFalse(file.isThere(false));
      }
    } finally {
      log.stopCapturing();
    }
    assertEquals(1, log.getOutput().lines().count(), log.getOutput());
  }
}
