package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what the core has booked on each node with what CapacityScheduler has, each node once a
 * minute, and mends what differs. Nothing should differ: each mended booking is counted, and the
 * first one is logged.
 *
 * <p>The core is told shortly before or after CapacityScheduler changes its state, and no lock
 * covers both. A difference therefore counts only if it is found twice, a second apart or more.
 * CapacityScheduler does not find a node while the node is resized; such a node is compared later.
 */
final class Reconciliation {
  private static final Logger LOG = LoggerFactory.getLogger(Reconciliation.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Set<String>> IDS = new TypeReference<Set<String>>() {};
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  /** How long a difference lasts at the least before it is mended. */
  static final long APART_MS = 1000;

  /** Calls in which every node is compared; there is one call a second. */
  private static final int CALLS = 60;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreContainers containers;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final ElastaneMetrics metrics;
  private final AtomicBoolean logged = new AtomicBoolean();
  private final Queue<NodeRecord> toCheck = new ArrayDeque<>();

  /** The containers that differ on each node, and since when. */
  private final Map<NodeRecord, Map<String, Long>> suspected = new HashMap<>();

  private int inEachCall;

  Reconciliation(
      CoreHandle core,
      CoreNodes nodes,
      CoreContainers containers,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      ElastaneMetrics metrics) {
    this.core = core;
    this.nodes = nodes;
    this.containers = containers;
    this.schedulerNodes = schedulerNodes;
    this.metrics = metrics;
  }

  /** Compares the next nodes. To be called once a second, without the scheduler's lock. */
  synchronized void checkSome() {
    if (toCheck.isEmpty()) {
      toCheck.addAll(nodes.all());
      inEachCall = (toCheck.size() + CALLS - 1) / CALLS;
    }
    List<NodeRecord> next = new ArrayList<>();
    while (next.size() < inEachCall && !toCheck.isEmpty()) {
      next.add(toCheck.remove());
    }
    check(next);
  }

  /** Compares every node. A difference counts if a later call, of either method, finds it again. */
  synchronized void checkAll() {
    check(nodes.all());
  }

  /** Whether a difference was found that a later call may mend. */
  synchronized boolean isAnySuspected() {
    return !suspected.isEmpty();
  }

  private void check(Collection<NodeRecord> next) {
    Set<NodeRecord> toCompare = new LinkedHashSet<>(suspected.keySet());
    toCompare.addAll(next);
    toCompare.forEach(this::compare);
  }

  private void compare(NodeRecord record) {
    if (!isKnown(record)) {
      suspected.remove(record);
      return;
    }
    Map<String, RMContainer> running = bookedOn(record);
    if (running == null) {
      return;
    }
    Map<String, Long> former = suspected.getOrDefault(record, Collections.emptyMap());
    long beganMs = Time.monotonicNow();
    Set<String> differing = differing(record, running);
    Map<String, Long> sinceMs = new HashMap<>();
    for (String container : differing) {
      if (former.containsKey(container) && beganMs - former.get(container) >= APART_MS) {
        mend(container, record, running);
      } else {
        sinceMs.put(container, former.getOrDefault(container, Time.monotonicNow()));
      }
    }
    if (sinceMs.isEmpty()) {
      suspected.remove(record);
    } else {
      suspected.put(record, sinceMs);
    }
  }

  private void mend(String container, NodeRecord record, Map<String, RMContainer> running) {
    containers.mend(ContainerId.fromString(container), running.get(container), record);
    metrics.bookingMended();
    if (logged.compareAndSet(false, true)) {
      LOG.error(
          "The core had booked {} on {} otherwise than CapacityScheduler, and was told; further"
              + " ones are only counted (BookingsMended)",
          container,
          record.rmNode.getNodeID());
    }
  }

  /** What CapacityScheduler has booked on a node; null if it does not find the node now. */
  private Map<String, RMContainer> bookedOn(NodeRecord record) {
    FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
    if (node == null) {
      return null;
    }
    Map<String, RMContainer> booked = new HashMap<>();
    for (RMContainer container : CoreContainers.bookedOn(node)) {
      booked.put(container.getContainerId().toString(), container);
    }
    return booked;
  }

  /** False if the node left, or registered again. */
  private boolean isKnown(NodeRecord record) {
    return nodes.find(record.rmNode.getNodeID()) == record;
  }

  private Set<String> differing(NodeRecord record, Map<String, RMContainer> running) {
    List<Map<String, Object>> described = new ArrayList<>();
    running.forEach((id, container) -> described.add(describe(id, container)));
    try {
      String answer = core.bookedOtherwise(record.number, JSON.writeValueAsString(described));
      return answer == null ? new HashSet<>() : JSON.readValue(answer, IDS);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("the bookings of " + record.rmNode.getNodeID(), e);
    }
  }

  private static Map<String, Object> describe(String id, RMContainer container) {
    Resource size = container.getAllocatedResource();
    Map<String, Object> description = new LinkedHashMap<>();
    description.put("container", id);
    description.put("memory_bytes", size.getMemorySize() * BYTES_PER_MIB);
    description.put("vcores", size.getVirtualCores());
    return description;
  }
}
