package org.elastane.node;

import org.slf4j.Logger;

/** Says once that the other side went away, and once that it is back. */
final class Outage {
  private final Logger log;
  private final String other;
  private boolean away;

  /**
   * @param other the other side, as it is to be named in the log
   */
  Outage(Logger log, String other) {
    this.log = log;
    this.other = other;
  }

  synchronized void failed(Exception e) {
    if (!away) {
      away = true;
      log.warn("Lost {}, trying again until it is back: {}", other, e.toString());
    }
  }

  synchronized void succeeded() {
    if (away) {
      away = false;
      log.info("Reached {} again", other);
    }
  }
}
