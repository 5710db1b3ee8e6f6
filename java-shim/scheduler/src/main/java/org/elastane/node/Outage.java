package org.elastane.node;

import org.slf4j.Logger;

/** Logs once that the other side was lost, and once that it is back. */
final class Outage {
  private final Logger log;
  private final String other;
  private boolean away;

  /**
   * @param other the name of the other side in the log
   */
  Outage(Logger log, String other) {
    this.log = log;
    this.other = other;
  }

  synchronized void failed(Exception e) {
    if (!away) {
      away = true;
      log.warn("Lost {}, retrying until it is back: {}", other, e.toString());
    }
  }

  synchronized void succeeded() {
    if (away) {
      away = false;
      log.info("Reached {} again", other);
    }
  }
}
