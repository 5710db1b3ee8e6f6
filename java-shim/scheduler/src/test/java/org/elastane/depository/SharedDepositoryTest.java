package org.elastane.depository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.elastane.Await;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Uses Hadoop's local file system and a simulated core, whose copies are lines of text. */
@SuppressWarnings("try") // publishes while it is open
class SharedDepositoryTest {
  private static final int EVERY_MS = 20;
  private static final int HOUR_MS = 3_600_000;
  private static final String DAMAGED = "damaged";

  @TempDir Path folder;

  private final Configuration conf = new Configuration();
  private final List<String> takenOver = new CopyOnWriteArrayList<>();
  private final AtomicInteger failures = new AtomicInteger();
  private Path directory;

  private final DepositoryCopies core =
      new DepositoryCopies() {
        @Override
        public void copyTo(Path file) throws IOException {
          Files.writeString(file, "own, after " + takenOver);
        }

        @Override
        public int takeOver(Path file) throws IOException {
          String copy = Files.readString(file);
          if (copy.equals(DAMAGED)) {
            throw new IOException("not a depository");
          }
          takenOver.add(copy);
          return 1;
        }
      };

  @BeforeEach
  void shareInAFolder() {
    directory = folder.resolve("shared");
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, directory.toUri().toString());
  }

  private SharedDepository start() {
    return start(EVERY_MS);
  }

  private SharedDepository start(int everyMs) {
    return SharedDepository.start(conf, everyMs, EVERY_MS, core, failures::incrementAndGet);
  }

  private String published() {
    return published("resourcemanager.sqlite");
  }

  private String published(String name) {
    try {
      return Files.readString(directory.resolve(name));
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void anotherOne(String name, String copy, long modifiedMs) throws IOException {
    Files.createDirectories(directory);
    setMode(directory, "rwx------");
    Path file = Files.writeString(folder.resolve(name), copy);
    setMode(file, "rw-------");
    Files.setLastModifiedTime(file, FileTime.fromMillis(modifiedMs));
    Files.move(file, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE);
  }

  private static void setMode(Path file, String mode) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
  }

  @Test
  void withoutADirectoryNothingIsShared() {
    conf.unset(ElastaneConfiguration.DEPOSITORY_SHARED);
    assertNull(start());
  }

  @Test
  void theOthersCopiesAreTakenOverTheNewestFirstAndThenItsOwnIsThere() throws Exception {
    anotherOne("rm2.sqlite", "old", 1_000);
    anotherOne("rm3.sqlite", "new", 2_000_000);
    anotherOne("rm4.sqlite.new", "unfinished", 3_000_000);

    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after [new, old]"));
    }

    assertEquals(0, failures.get());
    assertFalse(Files.exists(directory.resolve("resourcemanager.sqlite.new")));
  }

  @Test
  void aCopyIsTakenOverAgainEachTimeThatItHasChanged() throws Exception {
    anotherOne("rm2.sqlite", "first", 1_000);
    anotherOne("rm3.sqlite", "unchanged", 500);

    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after [first, unchanged]"));
      anotherOne("rm2.sqlite", "second", 2_000);
      Await.until(
          "a copy after the change",
          () -> published().equals("own, after [first, unchanged, second]"));
    }
    assertEquals(0, failures.get());
  }

  @Test
  void itsOwnCopyIsTakenOverAtTheStartOnly() throws Exception {
    anotherOne("resourcemanager.sqlite", "before its disk was lost", 1_000);

    try (SharedDepository shared = start()) {
      Await.until(
          "a copy of its own", () -> published().equals("own, after [before its disk was lost]"));
      anotherOne("rm2.sqlite", "another", 2_000);
      Await.until(
          "a round after that",
          () -> published().equals("own, after [before its disk was lost, another]"));
    }
  }

  @Test
  void inAFederationTheSubClusterIsPartOfTheCopysName() throws Exception {
    conf.setBoolean(YarnConfiguration.FEDERATION_ENABLED, true);
    conf.set(YarnConfiguration.RM_CLUSTER_ID, "north");
    anotherOne("south-resourcemanager.sqlite", "south", 1_000);

    try (SharedDepository shared = start()) {
      Await.until(
          "a copy of its own",
          () -> published("north-resourcemanager.sqlite").equals("own, after [south]"));
    }
    assertEquals("south", published("south-resourcemanager.sqlite"));
  }

  @Test
  void aDamagedCopyIsCountedAndKeepsNobodyElseOut() throws Exception {
    anotherOne("rm2.sqlite", "old", 1_000);
    anotherOne("rm3.sqlite", DAMAGED, 2_000_000);

    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after [old]"));
    }

    assertEquals(1, failures.get());
  }

  @Test
  void aCopyThatOthersMayWriteIsNamedCountedAndNotTakenOver() throws Exception {
    anotherOne("rm2.sqlite", "old", 1_000);
    anotherOne("rm3.sqlite", "forged", 2_000_000);
    setMode(directory.resolve("rm3.sqlite"), "rw-rw----");
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(SharedDirectory.class));

    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after [old]"));
    } finally {
      log.stopCapturing();
    }

    assertEquals(1, failures.get());
    assertTrue(log.getOutput().contains("rm3.sqlite is not taken over"), log.getOutput());
  }

  @Test
  void noCopyIsTakenOverFromADirectoryThatOthersMayWrite() throws Exception {
    anotherOne("rm2.sqlite", "moved there", 1_000);
    anotherOne("rm3.sqlite", "moved there too", 2_000);
    setMode(directory, "rwxrwxrwx");

    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after []"));
    }

    assertEquals(1, failures.get());
  }

  @Test
  void whatIsRefusedIsNamedOnceHoweverOftenItIsFound() throws Exception {
    anotherOne("rm2.sqlite", "forged", 1_000);
    setMode(directory.resolve("rm2.sqlite"), "rw-rw-rw-");
    AtomicInteger refused = new AtomicInteger();
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path(directory.toUri());
    SharedDirectory shared = new SharedDirectory(conf, path, refused::incrementAndGet);

    assertTrue(shared.copies().isEmpty());
    assertTrue(shared.copies().isEmpty());

    assertEquals(1, refused.get());
  }

  @Test
  void aDirectoryWithoutTheNameOfItsFileSystemIsInTheDefaultOne() throws Exception {
    conf.set(ElastaneConfiguration.DEPOSITORY_SHARED, directory.toString());
    try (SharedDepository shared = start()) {
      Await.until("a copy of its own", () -> published().equals("own, after []"));
    }
    assertEquals(0, failures.get());
  }

  @Test
  void whatFailsIsTriedAgainBeforeTheNextCopyIsDue() throws Exception {
    Files.writeString(directory, "a file where the directory should be");
    try (SharedDepository shared = start(HOUR_MS)) {
      Await.until("two failures", () -> failures.get() >= 2);
      Files.delete(directory);
      Await.until("a copy of its own", () -> published().equals("own, after []"));
    }
  }
}
