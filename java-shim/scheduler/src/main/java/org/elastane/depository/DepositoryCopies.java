package org.elastane.depository;

import java.io.IOException;
import java.nio.file.Path;

/** The core's operations on copies of its depository. Both may take minutes. */
public interface DepositoryCopies {
  /**
   * Writes all ended runs to a local file.
   *
   * @throws IOException naming the file and the cause
   */
  void copyTo(Path file) throws IOException;

  /**
   * Imports the runs of a local file that this depository does not have.
   *
   * @return the number of new runs
   * @throws IOException naming the file and the cause
   */
  int takeOver(Path file) throws IOException;
}
