package org.elastane.depository;

import java.io.IOException;
import java.nio.file.Path;

/** What the core can do with a copy of its depository; both may take long. */
public interface DepositoryCopies {
  /**
   * Writes all that is known of ended runs into a local file.
   *
   * @throws IOException naming the file and what went wrong
   */
  void copyTo(Path file) throws IOException;

  /**
   * Takes over the runs of a local file that are not known yet.
   *
   * @return how many there were
   * @throws IOException naming the file and what is wrong with it
   */
  int takeOver(Path file) throws IOException;
}
