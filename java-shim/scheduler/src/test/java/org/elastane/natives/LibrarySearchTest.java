package org.elastane.natives;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibrarySearchTest {
  private static final byte[] CONTENT = {1, 2, 3};

  @TempDir private Path directory;
  private final Properties system = new Properties();

  @BeforeEach
  void onLinux() {
    system.setProperty("os.name", "Linux");
    system.setProperty("os.arch", "amd64");
    system.setProperty("java.io.tmpdir", directory.toString());
  }

  @Test
  void whatIsNowhereIsSaidInOneLineWithEveryPlace() throws IOException {
    system.setProperty("java.library.path", "/first" + File.pathSeparator + "/second");

    String message = failure(Files.createDirectory(directory.resolve("jar")));

    assertEquals(
        "libelastane.so 1.2.3 was not found: system property elastane.library.path: not set;"
            + " java.library.path: not in /first:/second; jar: no"
            + " native/linux-x86_64/libelastane.so; set the system property to the file, or use the"
            + " jar of a release for this platform",
        message);
  }

  @Test
  void aNamedFileThatIsNotThereIsNotReplacedByAnother() throws IOException {
    Path jar = library("jar/native/linux-x86_64");
    system.setProperty("elastane.library.path", "/nowhere/libelastane.so");

    String message = failure(jar.getParent().getParent());

    assertTrue(
        message.contains(
            "system property elastane.library.path: /nowhere/libelastane.so is not a file"),
        message);
    assertFalse(message.contains("\n"), message);
  }

  @Test
  void theSystemPropertyComesBeforeJavaLibraryPathAndThatBeforeTheJar() throws IOException {
    Path named = library("named");
    Path onPath = library("path");
    Path jar = library("jar/native/linux-x86_64").getParent().getParent();
    system.setProperty("java.library.path", directory + File.pathSeparator + onPath);

    try (LibraryFile found = find(jar)) {
      assertEquals(onPath.resolve("libelastane.so").toFile(), found.file());
    }
    system.setProperty("elastane.library.path", named.resolve("libelastane.so").toString());
    try (LibraryFile found = find(jar)) {
      assertEquals(named.resolve("libelastane.so").toFile(), found.file());
    }
    assertTrue(Files.exists(named.resolve("libelastane.so")), "closing removed a file that stays");
  }

  @Test
  void theJarsLibraryIsTakenOutWhereOnlyThisUserMayWriteAndRemovedAgain() throws IOException {
    Path jar = library("jar/native/linux-x86_64").getParent().getParent();
    Path taken;
    try (LibraryFile found = find(jar)) {
      taken = found.file().toPath();
      assertArrayEquals(CONTENT, Files.readAllBytes(taken));
      assertEquals(
          PosixFilePermissions.fromString("rwx------"),
          Files.getPosixFilePermissions(taken.getParent()));
      assertTrue(found.origin().startsWith("in the jar: native/linux-x86_64/libelastane.so"));
    }
    assertFalse(Files.exists(taken.getParent()));
  }

  @Test
  void theJarsLibraryIsForOnePlatformOnly() throws IOException {
    Path jar = library("jar/native/linux-x86_64").getParent().getParent();
    system.setProperty("os.arch", "aarch64");

    String message = failure(jar);

    assertTrue(message.contains("jar: no native/linux-aarch64/libelastane.so"), message);
  }

  private Path library(String where) throws IOException {
    Path made = Files.createDirectories(directory.resolve(where));
    Files.write(made.resolve("libelastane.so"), CONTENT);
    return made;
  }

  private LibraryFile find(Path jar) throws IOException {
    URL[] urls = {jar.toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(urls, null)) {
      return new LibrarySearch(system, loader, "1.2.3").find();
    }
  }

  private String failure(Path jar) {
    return assertThrows(NativeLibraryException.class, () -> find(jar)).getMessage();
  }
}
