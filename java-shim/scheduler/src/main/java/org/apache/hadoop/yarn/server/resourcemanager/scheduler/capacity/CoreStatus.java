package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.hadoop.yarn.util.Clock;

/** The core's status, at most a second old: it costs the core a look at all that it has. */
final class CoreStatus {
  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;
  private final LatestValue<ObjectNode> latest;

  CoreStatus(CoreGuard guard, Part part, CoreHandle core, Clock clock) {
    this.guard = guard;
    this.part = part;
    this.core = core;
    latest = new LatestValue<>(this::read, clock);
  }

  /**
   * The nodes' bookings and the age of their reports, the waiting applications with their reasons,
   * and counters. Empty while the core is out of service. Shared: do not change it.
   */
  ObjectNode snapshot() {
    return guard.part(part, JsonNodeFactory.instance.objectNode(), latest::get);
  }

  /** After a change that the next one who asks is to see. */
  void forget() {
    latest.forget();
  }

  private ObjectNode read() {
    return (ObjectNode) CoreJson.read("status", core.status());
  }
}
