package org.elastane.natives;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Properties;

/** Searches for libelastane.so: in a system property, in java.library.path, in the jar. */
final class LibrarySearch {
  static final String FILE_NAME = "libelastane.so";
  static final String PATH_PROPERTY = "elastane.library.path";

  private final Properties system;
  private final ClassLoader jar;
  private final String version;

  /**
   * @param system the system properties
   * @param jar loads resources of the jar, which may contain the library
   * @param version the wanted version, for messages
   */
  LibrarySearch(Properties system, ClassLoader jar, String version) {
    this.system = system;
    this.jar = jar;
    this.version = version;
  }

  /**
   * Finds the library.
   *
   * @throws NativeLibraryException if no place has the library, or if the system property names a
   *     missing file: the search then ends there
   */
  LibraryFile find() {
    String named = system.getProperty(PATH_PROPERTY);
    if (named != null && !named.isEmpty()) {
      File file = new File(named);
      if (!file.isFile()) {
        throw notFound(
            "system property " + PATH_PROPERTY + ": " + file.getAbsolutePath() + " is not a file",
            "name an existing file, or remove the property to search java.library.path and the jar");
      }
      return new LibraryFile(file, "by system property " + PATH_PROPERTY + ": " + file, null);
    }
    String path = system.getProperty("java.library.path", "");
    for (String directory : path.split(File.pathSeparator, -1)) {
      File file = new File(directory, FILE_NAME);
      if (!directory.isEmpty() && file.isFile()) {
        return new LibraryFile(file, "on java.library.path: " + file, null);
      }
    }
    return inJar(path);
  }

  private LibraryFile inJar(String libraryPath) {
    String resource = "native/" + platform() + "/" + FILE_NAME;
    try (InputStream in = jar.getResourceAsStream(resource)) {
      if (in == null) {
        throw notFound(
            "system property "
                + PATH_PROPERTY
                + ": not set; java.library.path: not in "
                + (libraryPath.isEmpty() ? "it (it is empty)" : libraryPath)
                + "; jar: no "
                + resource,
            "set the system property to the file, or use the jar of a release for this platform");
      }
      return extract(in, resource);
    } catch (IOException e) {
      throw new NativeLibraryException(
          FILE_NAME
              + " "
              + version
              + " cannot be extracted from the jar ("
              + resource
              + ") into "
              + system.getProperty("java.io.tmpdir")
              + ": "
              + oneLine(e.toString())
              + "; free space there, set java.io.tmpdir, or set the system property "
              + PATH_PROPERTY
              + " to the file",
          e);
    }
  }

  private LibraryFile extract(InputStream in, String resource) throws IOException {
    // Mode 700, so that no other user can replace the library.
    Path directory = Files.createTempDirectory("elastane-");
    LibraryFile library =
        new LibraryFile(
            directory.resolve(FILE_NAME).toFile(), "in the jar: " + resource, directory.toFile());
    try {
      Files.copy(in, library.file().toPath());
      return library;
    } catch (IOException | RuntimeException e) {
      library.close();
      throw e;
    }
  }

  private String platform() {
    String name = system.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    String machine = system.getProperty("os.arch", "");
    return name + "-" + ("amd64".equals(machine) ? "x86_64" : machine);
  }

  private NativeLibraryException notFound(String where, String whatToDo) {
    return new NativeLibraryException(
        FILE_NAME + " " + version + " was not found: " + where + "; " + whatToDo);
  }

  static String oneLine(String message) {
    return message == null ? "no reason given" : message.replaceAll("\\s+", " ");
  }
}
