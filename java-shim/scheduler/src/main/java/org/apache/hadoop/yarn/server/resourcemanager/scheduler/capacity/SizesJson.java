package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.nodelabels.CommonNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceUsage;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Physical, bookable, booked, planned and used sizes beside each other, as JSON. Reads the
 * scheduler without its lock, so sums may be of slightly different moments.
 */
final class SizesJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  /** The sizes of a node that YARN does not know. */
  private static final String[] MEASURED_SIZES = {
    "physical_cpu_cores", "physical_network_bytes_per_s", "physical_disk_bytes_per_s",
  };

  private final List<FiCaSchedulerNode> nodes;
  private final Map<String, CSQueue> queues = new TreeMap<>();
  private final Map<String, JsonNode> known = new HashMap<>();

  /**
   * @param status the core's status
   */
  SizesJson(CapacityScheduler scheduler, JsonNode status) {
    nodes = new ArrayList<>(scheduler.getAllNodes());
    nodes.sort(Comparator.comparing(FiCaSchedulerNode::getNodeID));
    // CapacityScheduler keeps a queue under its short name, too.
    for (CSQueue queue : scheduler.getCapacitySchedulerQueueManager().getQueues().values()) {
      queues.put(queue.getQueuePath(), queue);
    }
    status.path("nodes").forEach(node -> known.put(node.path("node").asText(), node));
  }

  /** The sizes of the cluster, of each node label, and of each queue by label. */
  ObjectNode sizes() {
    ObjectNode sizes = clusterAndLabels();
    sizes.set("queues", queues());
    return sizes;
  }

  /** The sizes of the cluster and of each node label. */
  ObjectNode clusterAndLabels() {
    ObjectNode sizes = JSON.objectNode();
    sizes.set("cluster", sum(JSON.objectNode(), nodes));
    ArrayNode labels = sizes.putArray("labels");
    byLabel().forEach((label, members) -> labels.add(sum(labelled(label), members)));
    return sizes;
  }

  /** The sizes of each queue by label. */
  ArrayNode queues() {
    ArrayNode shares = JSON.arrayNode();
    Map<String, Resource> physical = new TreeMap<>();
    Map<String, QueueUse> use = new HashMap<>();
    byLabel()
        .forEach(
            (label, members) -> {
              physical.put(label, NodeSizes.of(members).physical());
              QueueUse ofLabel = new QueueUse();
              members.forEach(node -> ofLabel.add(status(node)));
              use.put(label, ofLabel);
            });
    for (CSQueue queue : queues.values()) {
      physical.forEach((label, size) -> addShare(shares, queue, label, size, use.get(label)));
    }
    return shares;
  }

  private Map<String, List<FiCaSchedulerNode>> byLabel() {
    Map<String, List<FiCaSchedulerNode>> byLabel = new TreeMap<>();
    byLabel.put(CommonNodeLabelsManager.NO_LABEL, new ArrayList<>());
    for (FiCaSchedulerNode node : nodes) {
      byLabel.computeIfAbsent(node.getPartition(), label -> new ArrayList<>()).add(node);
    }
    return byLabel;
  }

  /** The sizes of each node. */
  ArrayNode eachNode() {
    ArrayNode list = JSON.arrayNode();
    nodes.forEach(node -> list.add(entry(node)));
    return list;
  }

  /**
   * The nodes in the order of their names.
   *
   * @param label of which nodes; null for all
   */
  List<FiCaSchedulerNode> nodes(String label) {
    List<FiCaSchedulerNode> found = new ArrayList<>(nodes);
    found.removeIf(node -> label != null && !label.equals(node.getPartition()));
    return found;
  }

  /** The sizes of one node, by YARN's name; null if there is none. */
  ObjectNode node(String name) {
    for (FiCaSchedulerNode node : nodes) {
      if (node.getNodeID().toString().equals(name)) {
        return entry(node);
      }
    }
    return null;
  }

  /** The sizes of a node. */
  ObjectNode entry(FiCaSchedulerNode node) {
    JsonNode status = status(node);
    ObjectNode entry = JSON.objectNode();
    entry.put("node", node.getNodeID().toString());
    entry.put("label", node.getPartition());
    entry.set("mode", orNull(status.get("mode")));
    entry.put("is_raised", NodeSizes.isRaised(node));
    put(entry, "physical", NodeSizes.physical(node));
    put(entry, "bookable", node.getTotalResource());
    put(entry, "booked", node.getAllocatedResource());
    MeasuredUse used = new MeasuredUse();
    used.add(status);
    used.putInto(entry);
    for (String size : MEASURED_SIZES) {
      entry.set(size, orNull(status.get(size)));
    }
    entry.set("report_age_ms", orNull(status.get("report_age_ms")));
    entry.set("report_is_fresh", orNull(status.get("report_is_fresh")));
    return entry;
  }

  private ObjectNode sum(ObjectNode entry, List<FiCaSchedulerNode> members) {
    NodeSizes sum = NodeSizes.of(members);
    MeasuredUse used = new MeasuredUse();
    double[] measured = new double[MEASURED_SIZES.length];
    for (FiCaSchedulerNode node : members) {
      JsonNode status = status(node);
      used.add(status);
      for (int i = 0; i < measured.length; i++) {
        measured[i] += status.path(MEASURED_SIZES[i]).asDouble();
      }
    }
    entry.put("nodes", sum.nodes());
    entry.put("nodes_raised", sum.raised());
    entry.put("nodes_measured", used.reports());
    put(entry, "physical", sum.physical());
    put(entry, "bookable", sum.bookable());
    put(entry, "booked", sum.booked());
    entry.put("above_memory_mb", sum.aboveMemoryMb());
    used.putInto(entry);
    for (int i = 0; i < measured.length; i++) {
      entry.put(MEASURED_SIZES[i], measured[i]);
    }
    return entry;
  }

  /** Adds a queue's guaranteed share of a label's nodes, if the queue has a part in them. */
  private static void addShare(
      ArrayNode shares, CSQueue queue, String label, Resource physical, QueueUse use) {
    QueueCapacities capacities = queue.getQueueCapacities();
    ResourceUsage usage = queue.getQueueResourceUsage();
    // CapacityScheduler counts a reservation as used, and nothing runs there.
    Resource booked = Resources.subtract(usage.getUsed(label), usage.getReserved(label));
    float capacity = capacities.getAbsoluteCapacity(label);
    float maximum = capacities.getAbsoluteMaximumCapacity(label);
    if (!label.equals(CommonNodeLabelsManager.NO_LABEL)
        && capacity == 0
        && Resources.isNone(booked)) {
      return;
    }
    Resource bookable = queue.getEffectiveCapacity(label);
    Resource amount = queue.getQueueResourceQuotas().getConfiguredMinResource(label);
    boolean isAmount =
        queue.getParent() != null && amount != null && !amount.equals(Resources.none());
    ObjectNode share = JSON.objectNode();
    share.put("queue", queue.getQueuePath());
    share.put("label", label);
    share.put("capacity_percent", percent(capacity));
    share.put("maximum_capacity_percent", percent(maximum));
    // A capacity that is configured as an amount does not grow with the cluster.
    put(
        share,
        "physical",
        isAmount
            ? Resources.componentwiseMin(amount, bookable)
            : Resources.multiply(physical, capacity));
    put(share, "bookable", bookable);
    put(share, "booked", booked);
    use.of(queue.getQueuePath()).putInto(share);
    shares.add(share);
  }

  private JsonNode status(FiCaSchedulerNode node) {
    return known.getOrDefault(node.getNodeID().toString(), MissingNode.getInstance());
  }

  private static JsonNode orNull(JsonNode value) {
    return value == null ? JSON.nullNode() : value;
  }

  private static ObjectNode labelled(String label) {
    return JSON.objectNode().put("label", label);
  }

  private static double percent(float share) {
    return Math.round(share * 1e4) / 100.0;
  }

  private static void put(ObjectNode entry, String kind, Resource size) {
    entry.put(kind + "_memory_mb", size.getMemorySize());
    entry.put(kind + "_vcores", size.getVirtualCores());
  }
}
