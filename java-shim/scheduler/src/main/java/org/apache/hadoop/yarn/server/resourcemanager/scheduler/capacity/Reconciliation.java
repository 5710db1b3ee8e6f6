package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
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
 * covers both. A difference therefore counts only if it is found twice, a second apart.
 */
final class Reconciliation {
  private static final Logger LOG = LoggerFactory.getLogger(Reconciliation.class);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Set<String>> IDS = new TypeReference<Set<String>>() {};
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  /** Calls in which every node is compared; there is one call a second. */
  private static final int CALLS = 60;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreContainers containers;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final ElastaneMetrics metrics;
  private final AtomicBoolean logged = new AtomicBoolean();
  private final Queue<NodeRecord> toCheck = new ArrayDeque<>();
  private Map<NodeRecord, Set<String>> suspected = new HashMap<>();
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

  /** Compares every node. */
  synchronized void checkAll() {
    check(new ArrayList<>(nodes.all()));
  }

  private void check(List<NodeRecord> next) {
    Map<NodeRecord, Set<String>> former = suspected;
    suspected = new HashMap<>();
    former.forEach(this::mendIfStill);
    for (NodeRecord record : next) {
      Set<String> differing = differing(record, bookedOn(record));
      if (!differing.isEmpty()) {
        suspected.put(record, differing);
      }
    }
  }

  private void mendIfStill(NodeRecord record, Set<String> before) {
    Map<String, RMContainer> running = bookedOn(record);
    Set<String> differing = differing(record, running);
    differing.retainAll(before);
    for (String container : differing) {
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
  }

  private Map<String, RMContainer> bookedOn(NodeRecord record) {
    FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
    Map<String, RMContainer> booked = new HashMap<>();
    if (node != null) {
      for (RMContainer container : CoreContainers.bookedOn(node)) {
        booked.put(container.getContainerId().toString(), container);
      }
    }
    return booked;
  }

  private Set<String> differing(NodeRecord record, Map<String, RMContainer> running) {
    if (nodes.find(record.rmNode.getNodeID()) != record) {
      // The node left, or registered again.
      return new HashSet<>();
    }
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
