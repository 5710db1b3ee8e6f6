package org.elastane.natives;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * Loads libelastane.so, once for each JVM.
 *
 * <p>The first library found is used. If it cannot be loaded, or its version differs from the
 * jar's, loading fails; no further place is searched.
 */
public final class NativeLibrary {
  private static final String VERSION_RESOURCE = "/org/elastane/natives/version.properties";

  private static boolean loaded;

  private NativeLibrary() {}

  /**
   * Loads the library if it is not loaded yet.
   *
   * @throws NativeLibraryException if it is missing, does not load, or has another version
   */
  public static synchronized void load() {
    if (loaded) {
      return;
    }
    String version = jarVersion();
    LibrarySearch search =
        new LibrarySearch(System.getProperties(), NativeLibrary.class.getClassLoader(), version);
    try (LibraryFile library = search.find()) {
      loadFile(library, version);
      requireVersion(library, libraryVersion(library, version), version);
    }
    loaded = true;
  }

  /** The version of this jar; the library's version must equal it. */
  public static String jarVersion() {
    Properties properties = new Properties();
    try (InputStream in = NativeLibrary.class.getResourceAsStream(VERSION_RESOURCE)) {
      if (in == null) {
        throw new NativeLibraryException(
            "the jar has no " + VERSION_RESOURCE + ": build the jar again");
      }
      properties.load(in);
    } catch (IOException e) {
      throw new NativeLibraryException(
          "the jar's " + VERSION_RESOURCE + " cannot be read: " + e, e);
    }
    return properties.getProperty("version");
  }

  static void loadFile(LibraryFile library, String version) {
    try {
      System.load(library.file().getAbsolutePath());
    } catch (UnsatisfiedLinkError e) {
      throw new NativeLibraryException(
          LibrarySearch.FILE_NAME
              + " "
              + version
              + ", found "
              + library.origin()
              + ", does not load: "
              + LibrarySearch.oneLine(e.getMessage())
              + "; name a library for this machine with the system property "
              + LibrarySearch.PATH_PROPERTY,
          e);
    }
  }

  static void requireVersion(LibraryFile library, String found, String wanted) {
    if (!wanted.equals(found)) {
      throw new NativeLibraryException(
          LibrarySearch.FILE_NAME
              + ", found "
              + library.origin()
              + ", is version "
              + found
              + ", but the jar is version "
              + wanted
              + "; install jar and library of one release");
    }
  }

  private static String libraryVersion(LibraryFile library, String wanted) {
    try {
      return Natives.version();
    } catch (UnsatisfiedLinkError e) {
      throw new NativeLibraryException(
          LibrarySearch.FILE_NAME
              + ", found "
              + library.origin()
              + ", is not Elastane's "
              + wanted
              + ": it has no version; install jar and library of one release",
          e);
    }
  }
}
