package org.elastane.spark;

import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Map;

/** The YARN container that this process runs in. */
final class YarnContainer {
  private static final String ID = "CONTAINER_ID";

  /** The id of the executor in the driver's process, which exists with a local master only. */
  private static final String IN_DRIVER = "driver";

  private YarnContainer() {}

  /** Returns the container's directory, or null if this is no executor in a container. */
  static Path directory(Map<String, String> environment, String executorId) {
    boolean isExecutor = environment.containsKey(ID) && !executorId.equals(IN_DRIVER);
    return isExecutor ? Paths.get("").toAbsolutePath() : null;
  }
}
