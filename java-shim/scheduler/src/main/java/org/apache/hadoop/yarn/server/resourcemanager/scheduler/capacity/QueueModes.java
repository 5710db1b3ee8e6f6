package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import org.elastane.conf.Mode;

/** The modes that queues have; the core has the same rule. */
final class QueueModes {
  private final Map<String, Mode> byPath;

  /**
   * @param byPath the modes that are set
   */
  QueueModes(Map<String, Mode> byPath) {
    this.byPath = byPath;
  }

  /** Whether the core decides nothing for the queue: its mode is observe or advise. */
  boolean observes(String path) {
    return of(path) != Mode.ENFORCE;
  }

  /** The mode of the queue, or else of the nearest queue above that has one, or else enforce. */
  Mode of(String path) {
    // Asked in every round, and mostly no queue has a mode.
    if (byPath.isEmpty()) {
      return Mode.ENFORCE;
    }
    for (int end = path.length(); end >= 0; end = path.lastIndexOf('.', end - 1)) {
      Mode mode = byPath.get(path.substring(0, end));
      if (mode != null) {
        return mode;
      }
    }
    return Mode.ENFORCE;
  }
}
