package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Whether a heartbeat places no more than queues, users and nodes may take. What was placed before
 * a limit shrank may stay above the limit; then nothing more may be placed.
 */
final class PlacementLimits implements RandomOperations.Placements {
  /** These go by request, whether their demand fits or not. */
  private static final Set<String> BY_REQUEST =
      Set.of("owed", "owed-flow", "starving", "capacity-scheduler");

  /** The core reads the nodes' sizes for the queues' maxima once a second. */
  private static final long READ_WITHIN_MS = 2500;

  private final UserLimitCheckingScheduler scheduler;
  private final SimulatedAgents agents;
  private final Map<String, Resource> queuesBefore = new HashMap<>();
  private final Map<ContainerId, Resource> sizes = new HashMap<>();
  private final Set<ContainerId> before = new HashSet<>();
  private final TreeMap<Long, Long> physicalMibByTime = new TreeMap<>();

  /** The containers one of which must have gone by request, with the reason. */
  private final Map<List<ContainerId>, String> abovePlan = new LinkedHashMap<>();

  private long placedAbovePhysical;

  PlacementLimits(UserLimitCheckingScheduler scheduler, SimulatedAgents agents) {
    this.scheduler = scheduler;
    this.agents = agents;
  }

  @Override
  public void before() {
    queuesBefore.clear();
    before.clear();
    rememberQueue(scheduler.getRootQueue());
    long physicalMib = 0;
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      physicalMib += node.getRMNode().getTotalCapability().getMemorySize();
      for (RMContainer container : node.getCopiedListOfRunningContainers()) {
        before.add(container.getContainerId());
      }
    }
    physicalMibByTime.merge(Time.monotonicNow(), physicalMib, Math::max);
  }

  /** No container grows above the registered size of its node. */
  void checkSizes() {
    Map<ContainerId, Resource> former = new HashMap<>(sizes);
    sizes.clear();
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      Resource registered = node.getRMNode().getTotalCapability();
      for (RMContainer container : node.getCopiedListOfRunningContainers()) {
        Resource size = container.getContainer().getResource();
        Resource smaller = former.getOrDefault(container.getContainerId(), size);
        assertTrue(
            !hasGrown(smaller, size) || Resources.fitsIn(size, registered),
            () -> container + " grew from " + smaller + " to " + size + " on " + registered);
        sizes.put(container.getContainerId(), size);
      }
    }
  }

  private void rememberQueue(CSQueue queue) {
    queuesBefore.put(queue.getQueuePath(), Resources.clone(queue.getUsedResources()));
    if (queue.getChildQueues() != null) {
      queue.getChildQueues().forEach(this::rememberQueue);
    }
  }

  @Override
  public void after() {
    assertEquals(Collections.emptyList(), scheduler.violations(), "above the user limit");
    List<RMContainer> placed = new ArrayList<>();
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      placed.addAll(checkNode(node));
    }
    if (!placed.isEmpty()) {
      checkQueue(scheduler.getRootQueue(), physicalMib());
    }
  }

  /** The most that all nodes had since the core read their sizes. */
  private long physicalMib() {
    long nowMs = Time.monotonicNow();
    physicalMibByTime.headMap(nowMs - READ_WITHIN_MS).clear();
    return Collections.max(physicalMibByTime.values());
  }

  /** The containers that were placed there. */
  private List<RMContainer> checkNode(FiCaSchedulerNode node) {
    List<RMContainer> placed = new ArrayList<>();
    Resource registered = node.getRMNode().getTotalCapability();
    long plannedMib = 0;
    for (RMContainer container : node.getCopiedListOfRunningContainers()) {
      if (isBooked(container)) {
        plannedMib += agents.demandMib(container);
        if (!before.contains(container.getContainerId())) {
          placed.add(container);
          assertTrue(
              Resources.fitsIn(container.getContainer().getResource(), registered),
              container + " is larger than the " + registered + " of its node");
        }
      }
    }
    long bookedMib = node.getAllocatedResource().getMemorySize();
    if (bookedMib > registered.getMemorySize()) {
      placedAbovePhysical += placed.size();
    }
    if (plannedMib > registered.getMemorySize() && !placed.isEmpty()) {
      List<ContainerId> ids = new ArrayList<>();
      placed.forEach(container -> ids.add(container.getContainerId()));
      abovePlan.put(
          ids,
          String.format(
              "%d of %d MiB are planned on %s",
              plannedMib, registered.getMemorySize(), node.getNodeID()));
    }
    return placed;
  }

  /** The demand of all that runs in the queue. */
  private long checkQueue(CSQueue queue, long physicalMib) {
    long demandMib = 0;
    if (queue.getChildQueues() == null) {
      for (FiCaSchedulerApp attempt : ((LeafQueue) queue).getAllApplications()) {
        for (RMContainer container : attempt.getLiveContainers()) {
          demandMib += isBooked(container) ? agents.demandMib(container) : 0;
        }
      }
    } else {
      for (CSQueue child : queue.getChildQueues()) {
        demandMib += checkQueue(child, physicalMib);
      }
    }
    Resource used = queue.getUsedResources();
    Resource former = queuesBefore.get(queue.getQueuePath());
    if (hasGrown(former, used)) {
      Resource most = queue.getEffectiveMaxCapacity("");
      assertTrue(
          Resources.fitsIn(used, most),
          queue.getQueuePath() + " uses " + used + ", its maximum is " + most);
      double mostMib = queue.getAbsoluteMaximumCapacity() * physicalMib;
      assertTrue(
          demandMib <= mostMib + 1,
          queue.getQueuePath() + " demands " + demandMib + " MiB, its maximum is " + mostMib);
    }
    return demandMib;
  }

  private static boolean hasGrown(Resource former, Resource now) {
    return former == null || !Resources.fitsIn(now, former);
  }

  private static boolean isBooked(RMContainer container) {
    return container.getExecutionType() == ExecutionType.GUARANTEED
        && !CoreContainers.hasEnded(container);
  }

  /** How many containers were placed above a node's physical size by request. */
  long placedAbovePhysical() {
    return placedAbovePhysical;
  }

  /**
   * What went to a node whose plan was full then went by request, as the journal has it. The
   * journal is complete after the cluster is closed.
   */
  void checkJournal(Path journal) throws IOException {
    Map<String, String> reasons = new HashMap<>();
    for (String line : Files.readAllLines(journal)) {
      JsonNode record = new ObjectMapper().readTree(line);
      if (record.get("kind").asText().equals("placed")) {
        reasons.put(record.get("container").asText(), record.get("reason").asText());
      }
    }
    abovePlan.forEach(
        (placed, how) ->
            assertTrue(
                placed.stream().anyMatch(id -> BY_REQUEST.contains(reasons.get(id.toString()))),
                () -> how + ", and there went " + placed + ": " + reasonsOf(placed, reasons)));
  }

  private static List<String> reasonsOf(List<ContainerId> ids, Map<String, String> reasons) {
    List<String> found = new ArrayList<>();
    ids.forEach(id -> found.add(reasons.get(id.toString())));
    return found;
  }
}
