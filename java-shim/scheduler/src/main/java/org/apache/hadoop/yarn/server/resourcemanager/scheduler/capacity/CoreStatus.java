package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.hadoop.yarn.util.Clock;

/** The core's status, at most a second old. */
final class CoreStatus {
  /** A status may be asked for at any rate, and costs the core a look at all it has. */
  private static final long VALID_FOR_MS = 1000;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;
  private final Clock clock;
  private ObjectNode latest;
  private long latestMs;

  CoreStatus(CoreGuard guard, Part part, CoreHandle core, Clock clock) {
    this.guard = guard;
    this.part = part;
    this.core = core;
    this.clock = clock;
  }

  /**
   * The nodes' bookings and the age of their reports, the waiting applications with their reasons,
   * and counters. Empty while the core is out of service. Shared: do not change it.
   */
  ObjectNode snapshot() {
    return guard.part(part, JSON.createObjectNode(), this::latest);
  }

  private synchronized ObjectNode latest() {
    long nowMs = clock.getTime();
    if (latest == null || nowMs - latestMs >= VALID_FOR_MS) {
      try {
        latest = (ObjectNode) JSON.readTree(core.status());
      } catch (JsonProcessingException e) {
        throw new IllegalStateException("the core's status is no JSON", e);
      }
      latestMs = nowMs;
    }
    return latest;
  }
}
