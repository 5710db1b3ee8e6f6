package org.elastane.natives;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {
  @Test
  void theJarKnowsItsVersion() {
    assertTrue(NativeLibrary.jarVersion().matches("\\d+\\.\\d+\\.\\d+.*"));
  }

  @Test
  void aLibraryOfAnotherVersionIsNamedWithBothVersionsAndItsPlace(@TempDir Path directory) {
    LibraryFile library =
        new LibraryFile(directory.resolve("libelastane.so").toFile(), "on java.library.path", null);

    NativeLibraryException e =
        assertThrows(
            NativeLibraryException.class,
            () -> NativeLibrary.requireVersion(library, "0.9.0", "1.0.0"));

    assertEquals(
        "libelastane.so, found on java.library.path, is version 0.9.0, but the jar is version"
            + " 1.0.0; install jar and library of one release",
        e.getMessage());
    assertDoesNotThrow(() -> NativeLibrary.requireVersion(library, "1.0.0", "1.0.0"));
  }

  @Test
  void aFileThatIsNoLibraryIsRefusedInOneLineThatNamesIt(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("libelastane.so");
    Files.write(file, "not a library".getBytes(StandardCharsets.UTF_8));
    LibraryFile library = new LibraryFile(file.toFile(), "on java.library.path: " + file, null);

    String message =
        assertThrows(NativeLibraryException.class, () -> NativeLibrary.loadFile(library, "1.0.0"))
            .getMessage();

    assertTrue(
        message.startsWith(
            "libelastane.so 1.0.0, found on java.library.path: " + file + ", does not load: "),
        message);
    assertFalse(message.contains("\n"), message);
  }
}
