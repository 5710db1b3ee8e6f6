package org.elastane.natives;

import java.io.File;

/** A library that was found. Closing it removes a copy that was extracted only to be loaded. */
final class LibraryFile implements AutoCloseable {
  private final File file;
  private final String origin;
  private final File temporaryDirectory;

  /**
   * @param origin where the file was found; follows the word "found" in messages
   * @param temporaryDirectory holds this file only and is removed with it; null if the file is kept
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
    // A loaded library stays mapped after its file is deleted. At its exit the JVM deletes what is
    // left in reverse order, so the directory is registered first.
    boolean removed = file.delete() && temporaryDirectory.delete();
    if (!removed) {
      temporaryDirectory.deleteOnExit();
      file.deleteOnExit();
    }
  }
}
