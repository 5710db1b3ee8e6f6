package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.util.Clock;

/** The sizes of the cluster and of each node label over the last hours, in steps. */
final class SizeHistory {
  static final long STEP_MS = 10_000;

  /** Three hours: some 220 KB for the cluster, and for each label. */
  static final int MOST_STEPS = 1080;

  private static final String[] FIELDS = {
    "nodes",
    "nodes_raised",
    "nodes_measured",
    "physical_memory_mb",
    "physical_vcores",
    "physical_cpu_cores",
    "physical_network_bytes_per_s",
    "physical_disk_bytes_per_s",
    "bookable_memory_mb",
    "bookable_vcores",
    "booked_memory_mb",
    "booked_vcores",
    "above_memory_mb",
    "planned_memory_mb",
    "planned_cpu_cores",
    "planned_network_bytes_per_s",
    "planned_disk_bytes_per_s",
    "used_memory_mb",
    "used_cpu_cores",
    "used_network_bytes_per_s",
    "used_disk_bytes_per_s",
  };

  private final Supplier<JsonNode> sizes;
  private final Clock wallClock;
  private final Deque<Step> ofCluster = new ArrayDeque<>();
  private final Map<String, Deque<Step>> byLabel = new HashMap<>();

  /**
   * @param sizes of the cluster and of each label, as {@link SizesJson#clusterAndLabels}
   */
  SizeHistory(Supplier<JsonNode> sizes, Clock wallClock) {
    this.sizes = sizes;
    this.wallClock = wallClock;
  }

  /** Adds a step. To be called every {@link #STEP_MS}. */
  void sample() {
    JsonNode now = sizes.get();
    long nowMs = wallClock.getTime();
    synchronized (this) {
      add(ofCluster, now.path("cluster"), nowMs);
      for (JsonNode label : now.path("labels")) {
        add(
            byLabel.computeIfAbsent(label.path("label").asText(), any -> new ArrayDeque<>()),
            label,
            nowMs);
      }
      // Of a label that is gone, the steps stay until they are too old.
      long oldestMs = nowMs - MOST_STEPS * STEP_MS;
      byLabel.values().removeIf(steps -> steps.getLast().timeMs < oldestMs);
    }
  }

  private static void add(Deque<Step> steps, JsonNode sizes, long timeMs) {
    steps.addLast(new Step(timeMs, sizes));
    if (steps.size() > MOST_STEPS) {
      steps.removeFirst();
    }
  }

  /** Whether a node has the label, or had it lately. */
  synchronized boolean has(String label) {
    return byLabel.containsKey(label);
  }

  /**
   * The steps as columns, oldest first; null for a label that no node has or had.
   *
   * @param label null for the whole cluster
   */
  synchronized ObjectNode of(String label) {
    Deque<Step> steps = label == null ? ofCluster : byLabel.get(label);
    if (steps == null) {
      return null;
    }
    ObjectNode history = JsonNodeFactory.instance.objectNode();
    history.put("step_ms", STEP_MS);
    ArrayNode times = history.putArray("time_ms");
    steps.forEach(step -> times.add(step.timeMs));
    for (int i = 0; i < FIELDS.length; i++) {
      ArrayNode column = history.putArray(FIELDS[i]);
      int field = i;
      steps.forEach(step -> step.addTo(column, field));
    }
    return history;
  }

  /** The sizes at one time. */
  private static final class Step {
    final long timeMs;

    /** NaN where nothing was measured. */
    private final double[] values = new double[FIELDS.length];

    Step(long timeMs, JsonNode sizes) {
      this.timeMs = timeMs;
      for (int i = 0; i < values.length; i++) {
        values[i] = sizes.path(FIELDS[i]).asDouble(Double.NaN);
      }
    }

    void addTo(ArrayNode column, int field) {
      double value = values[field];
      if (Double.isNaN(value)) {
        column.addNull();
      } else if (value == Math.rint(value)) {
        column.add((long) value);
      } else {
        column.add(value);
      }
    }
  }
}
