package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collections;
import java.util.Map;

/** A scheduler under SLS's load. */
interface MeasuredScheduler {
  /** Its own counters at the end, by name. */
  default Map<String, Long> counters() {
    return Collections.emptyMap();
  }
}
