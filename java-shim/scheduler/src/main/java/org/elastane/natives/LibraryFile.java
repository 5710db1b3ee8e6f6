package org.elastane.natives;

import java.io.File;

/** A library that was found. Closing it removes what was made only to load it. */
final class LibraryFile implements AutoCloseable {
  private final File file;
  private final String origin;
  private final File temporaryDirectory;

  /**
   * @param origin where it was found, to follow the word "found"
   * @param temporaryDirectory holds nothing but the file and goes with it; null when the file stays
   */
  LibraryFile(File file, String origin, File temporaryDirectory) {
    this.file = file;
    this.origin = origin;
    this.temporaryDirectory = temporaryDirectory;
  }

  File file() {
    return file;
  }

  String origin() {
    return origin;
  }

  @Override
  public void close() {
    if (temporaryDirectory == null) {
      return;
    }
    // A loaded library stays mapped without its name. What cannot be removed now goes with the JVM,
    // which deletes in reverse order: the directory has to be named first.
    boolean removed = file.delete() && temporaryDirectory.delete();
    if (!removed) {
      temporaryDirectory.deleteOnExit();
      file.deleteOnExit();
    }
  }
}
