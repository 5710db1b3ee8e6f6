package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import javax.management.ObjectName;
import org.apache.hadoop.metrics2.util.MBeans;
import org.apache.hadoop.yarn.util.Clock;

/** The core's status, at most a second old, and its counts on /jmx. */
final class CoreStatus implements CoreStatusMXBean {
  static final String SERVICE = "ResourceManager";
  static final String NAME = "ElastaneStatus";

  /** A status may be asked for at any rate, and costs the core a look at all it has. */
  private static final long VALID_FOR_MS = 1000;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PHYSICAL = 1;

  private final CapacityScheduler scheduler;
  private final CoreGuard guard;
  private final Part part;
  private final CoreHandle core;
  private final Clock clock;
  private ObjectName registered;
  private ObjectNode latest;
  private long latestMs;

  CoreStatus(
      CapacityScheduler scheduler, CoreGuard guard, Part part, CoreHandle core, Clock clock) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.part = part;
    this.core = core;
    this.clock = clock;
  }

  void register() {
    registered = MBeans.register(SERVICE, NAME, this);
  }

  void unregister() {
    if (registered != null) {
      MBeans.unregister(registered);
      registered = null;
    }
  }

  /**
   * The nodes' bookings and the age of their reports, the waiting applications with their reasons,
   * and counters. Empty while the core is out of service. Shared: do not change it.
   */
  ObjectNode snapshot() {
    return guard.part(part, JSON.createObjectNode(), this::latest);
  }

  @Override
  public String getStatus() {
    return counts(snapshot()).toString();
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

  private ObjectNode counts(ObjectNode status) {
    ObjectNode counts = JSON.createObjectNode();
    if (status.isEmpty()) {
      return counts;
    }
    int raised = 0;
    int measured = 0;
    int enforced = 0;
    long containers = 0;
    for (JsonNode node : status.path("nodes")) {
      if (node.path("bookable_memory_ratio").asDouble() > PHYSICAL
          || node.path("bookable_vcores_ratio").asDouble() > PHYSICAL) {
        raised++;
      }
      if (node.path("measured").isObject()) {
        measured++;
      }
      if (node.path("mode").asText().equals("enforce")) {
        enforced++;
      }
      containers += node.path("containers").asLong();
    }
    counts.put("nodes", status.path("nodes").size());
    counts.put("nodes_raised", raised);
    counts.put("nodes_measured", measured);
    counts.put("nodes_enforced", enforced);
    counts.put("containers", containers);
    counts.put("applications", scheduler.getSchedulerApplications().size());
    putWaiting(counts, status);
    status
        .fields()
        .forEachRemaining(
            field -> {
              if (field.getValue().isNumber() || field.getValue().isBoolean()) {
                counts.set(field.getKey(), field.getValue());
              }
            });
    return counts;
  }

  /** Puts how many applications wait, and for how many containers. */
  static void putWaiting(ObjectNode counts, ObjectNode status) {
    long containers = 0;
    for (JsonNode waiting : status.path("waiting")) {
      containers += waiting.path("containers").asLong();
    }
    counts.put("waiting_applications", status.path("waiting").size());
    counts.put("waiting_containers", containers);
  }
}
