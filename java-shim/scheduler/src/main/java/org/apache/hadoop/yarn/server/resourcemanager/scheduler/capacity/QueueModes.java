package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import org.elastane.conf.Mode;

/** Which queues are in observe; the core has the same rule. */
final class QueueModes {
  private final Map<String, Mode> byPath;

  /**
   * @param byPath the modes that are set
   */
  QueueModes(Map<String, Mode> byPath) {
    this.byPath = byPath;
  }

  /** Whether the queue, or else the nearest queue above that has a mode, is in observe. */
  boolean observes(String path) {
    // Asked in every round, and mostly no queue has a mode.
    if (byPath.isEmpty()) {
      return false;
    }
    for (int end = path.length(); end >= 0; end = path.lastIndexOf('.', end - 1)) {
      Mode mode = byPath.get(path.substring(0, end));
      if (mode != null) {
        return mode == Mode.OBSERVE;
      }
    }
    return false;
  }
}
