package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgressFileTest {
  @TempDir Path directory;

  @Test
  void aLineReplacesTheOneBeforeAndNothingElseStays() throws IOException {
    ProgressFile file = new ProgressFile(directory);
    file.write("a longer line");
    file.write("a line");
    assertEquals("a line\n", read());
    try (Stream<Path> files = Files.list(directory)) {
      assertEquals(List.of(directory.resolve("elastane.progress")), files.toList());
    }
  }

  @Test
  void onlyTheOwnerReadsAndWritesTheFile() throws IOException {
    new ProgressFile(directory).write("a line");
    assertEquals(
        "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(progress())));
  }

  @Test
  void theSameLineIsWrittenAgainSinceItsAgeTellsWhetherItHolds() throws IOException {
    ProgressFile file = new ProgressFile(directory);
    file.write("a line");
    Files.delete(progress());
    file.write("a line");
    assertEquals("a line\n", read());
  }

  @Test
  void theFileIsReplacedAndNotWrittenInPlace() throws IOException {
    ProgressFile file = new ProgressFile(directory);
    file.write("a line");
    Object before = Files.getAttribute(progress(), "unix:ino");
    file.write("another line");
    assertFalse(before.equals(Files.getAttribute(progress(), "unix:ino")));
  }

  @Test
  void aLinkInPlaceOfTheFilesIsNotFollowed() throws IOException {
    Path other = Files.writeString(directory.resolve("other"), "untouched");
    Files.createSymbolicLink(progress(), other);
    Files.createSymbolicLink(directory.resolve(".elastane.progress.tmp"), other);
    new ProgressFile(directory).write("a line");
    assertEquals("untouched", Files.readString(other));
    assertEquals("a line\n", read());
  }

  @Test
  void whatCannotBeWrittenIsAnException() throws IOException {
    Path noDirectory = Files.createFile(directory.resolve("file"));
    assertThrows(IOException.class, () -> new ProgressFile(noDirectory).write("a line"));
    Path missing = directory.resolve("missing");
    assertThrows(IOException.class, () -> new ProgressFile(missing).write("a line"));
  }

  @Test
  void onlyAnExecutorInAContainerHasADirectory() {
    Map<String, String> container = Map.of("CONTAINER_ID", "container_1_0001_01_000002");
    assertEquals(Path.of("").toAbsolutePath(), YarnContainer.directory(container, "1"));
    assertEquals(null, YarnContainer.directory(container, "driver"));
    assertEquals(null, YarnContainer.directory(Map.of("PWD", "/"), "1"));
  }

  private Path progress() {
    return directory.resolve("elastane.progress");
  }

  private String read() throws IOException {
    return Files.readString(progress());
  }
}
