package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AppSchedulingInfo;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerAppUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.DiagnosticsCollector;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities.GenericDiagnosticsCollector;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.AppPlacementAllocator;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where CapacityScheduler refuses an application's next container: a strict request for nodes or
 * racks, the application's blacklist, or a placement constraint.
 */
final class PlaceWords {
  private static final Logger LOG = LoggerFactory.getLogger(PlaceWords.class);
  private static final int MOST_NAMES = 3;
  private static final String RACK_PREFIX = "/";
  private static final String BY_CONSTRAINT =
      GenericDiagnosticsCollector.PLACEMENT_CONSTRAINT_DIAGNOSTICS_PREFIX;

  private final CapacityScheduler scheduler;
  private final FiCaSchedulerApp attempt;
  private final ResourceCalculator calculator;
  private final SchedulerRequestKey key;
  private final Resource next;
  private final String label;

  /** The nodes and racks of a strict request; empty for none. */
  private final TreeSet<String> places = new TreeSet<>();

  private PlaceWords(
      CapacityScheduler scheduler,
      FiCaSchedulerApp attempt,
      SchedulerRequestKey key,
      AppPlacementAllocator<FiCaSchedulerNode> allocator) {
    this.scheduler = scheduler;
    this.attempt = attempt;
    this.key = key;
    calculator = scheduler.getResourceCalculator();
    next = attempt.getAppSchedulingInfo().getPendingAsk(key).getPerAllocationResource();
    String requested = allocator.getPrimaryRequestedNodePartition();
    label = requested == null ? RMNodeLabelsManager.NO_LABEL : requested;
    if (!allocator.canDelayTo(ResourceRequest.ANY)) {
      addPlaces(allocator);
    }
  }

  /** A rack that relaxes no locality stands for its requested nodes. */
  private void addPlaces(AppPlacementAllocator<FiCaSchedulerNode> allocator) {
    for (Map.Entry<String, ResourceRequest> ask : allocator.getResourceRequests().entrySet()) {
      String place = ask.getKey();
      boolean isEnough = !isRack(place) || allocator.canDelayTo(place);
      if (!place.equals(ResourceRequest.ANY) && ask.getValue().getNumContainers() > 0 && isEnough) {
        places.add(place);
      }
    }
  }

  /** Null without a next container. */
  private static PlaceWords of(
      CapacityScheduler scheduler, FiCaSchedulerApp attempt, Integer requestPriority) {
    AppSchedulingInfo info = attempt.getAppSchedulingInfo();
    for (SchedulerRequestKey key : info.getSchedulerKeys()) {
      AppPlacementAllocator<FiCaSchedulerNode> allocator = info.getAppPlacementAllocator(key);
      boolean isWanted =
          requestPriority == null || requestPriority == key.getPriority().getPriority();
      if (isWanted && allocator != null && info.getPendingAsk(key).getCount() > 0) {
        return new PlaceWords(scheduler, attempt, key, allocator);
      }
    }
    return null;
  }

  /**
   * Why no node could take the next container, however much room there were; null if one could.
   *
   * @param requestPriority of the container's request; null for the one that is served next
   */
  static String never(
      CapacityScheduler scheduler, FiCaSchedulerApp attempt, Integer requestPriority) {
    PlaceWords words = of(scheduler, attempt, requestPriority);
    return words == null ? null : words.never();
  }

  /**
   * Why no node that has room takes the next container; null if one does, or none has room.
   *
   * @param requestPriority of the container's request; null for the one that is served next
   */
  static String now(
      CapacityScheduler scheduler, FiCaSchedulerApp attempt, Integer requestPriority) {
    PlaceWords words = of(scheduler, attempt, requestPriority);
    if (words == null) {
      return null;
    }
    return words.places.isEmpty() ? words.ofNodesWithRoom() : words.ofStrictRequest();
  }

  private String never() {
    List<FiCaSchedulerNode> nodes = nodes();
    List<FiCaSchedulerNode> allowed =
        nodes.stream().filter(node -> !isBlacklisted(node)).collect(Collectors.toList());
    if (places.isEmpty()) {
      return nodes.isEmpty() || !allowed.isEmpty()
          ? null
          : "the application's blacklist has all nodes of the cluster: " + names(nodes);
    }
    if (nodes.isEmpty()) {
      return only("is not in the cluster", "are not in the cluster", "bring one in");
    }
    if (allowed.isEmpty()) {
      return only(
          "is on the application's blacklist",
          "are not in the cluster or on the application's blacklist",
          "take one off the list");
    }
    if (allowed.stream().anyMatch(this::mayUsePartitionOf)) {
      return null;
    }
    return isLabelled()
        ? only(
            "does not have the requested label '" + label + "'",
            "do not have the requested label '" + label + "' or are on the application's blacklist",
            "request another label")
        : only(
            "has an exclusive label",
            "are not in the cluster, have an exclusive label or are on the application's blacklist",
            "request that label");
  }

  private String ofStrictRequest() {
    List<FiCaSchedulerNode> nodes = nodes();
    nodes.removeIf(this::isBlacklisted);
    if (nodes.isEmpty() || nodes.stream().anyMatch(this::hasRoom)) {
      return null;
    }
    String room =
        nodes.size() == 1
            ? "has " + nodes.get(0).getUnallocatedResource() + " free"
            : "has room for it on none of its nodes";
    return only(room, "have no room for it", "wait for room there");
  }

  private String ofNodesWithRoom() {
    List<FiCaSchedulerNode> blacklisted = new ArrayList<>();
    List<FiCaSchedulerNode> refused = new ArrayList<>();
    String constraint = null;
    for (FiCaSchedulerNode node : nodes()) {
      if (mayUsePartitionOf(node) && hasRoom(node)) {
        GenericDiagnosticsCollector why = new GenericDiagnosticsCollector();
        if (isBlacklisted(node)) {
          blacklisted.add(node);
        } else if (isAccepted(node, why)) {
          return null;
        } else if (constraintOf(why) != null) {
          refused.add(node);
          constraint = constraintOf(why);
        }
      }
    }
    String blacklist =
        blacklisted.isEmpty() ? "" : "the application's blacklist has " + names(blacklisted);
    if (!refused.isEmpty()) {
      return String.format(
          "the next container requests %s, and the placement constraint %s refuses the nodes that"
              + " have room for it: %s%s",
          next, constraint, names(refused), blacklist.isEmpty() ? "" : "; " + blacklist);
    }
    return blacklisted.isEmpty()
        ? null
        : String.format(
            "the next container requests %s, and %s: no other node that it may use has room for it",
            next, blacklist);
  }

  private String only(String ofOne, String ofSeveral, String remedy) {
    return String.format(
        "the next container requests %s on %s only, which %s: %s, or relax the request's locality",
        next, named(places), places.size() == 1 ? ofOne : ofSeveral, remedy);
  }

  /** Those of a strict request, or all. */
  private List<FiCaSchedulerNode> nodes() {
    if (places.isEmpty()) {
      return new ArrayList<>(scheduler.getNodeTracker().getAllNodes());
    }
    // getNodesByResourceName() reads without the tracker's lock, and logs each missing place.
    return scheduler
        .getNodeTracker()
        .getNodes(
            node -> places.contains(node.getNodeName()) || places.contains(node.getRackName()));
  }

  private boolean hasRoom(FiCaSchedulerNode node) {
    return Resources.fitsIn(calculator, next, node.getUnallocatedResource());
  }

  private boolean isBlacklisted(FiCaSchedulerNode node) {
    return SchedulerAppUtils.isPlaceBlacklisted(attempt, node, LOG);
  }

  /** A request without a label may use nodes with labels that are not exclusive, too. */
  private boolean mayUsePartitionOf(FiCaSchedulerNode node) {
    String partition = node.getPartition();
    if (label.equals(partition)) {
      return true;
    }
    try {
      return !isLabelled()
          && !scheduler.getRMContext().getNodeLabelManager().isExclusiveNodeLabel(partition);
    } catch (IOException e) {
      // The label was removed in between. CapacityScheduler takes it for an exclusive one then.
      return false;
    }
  }

  private boolean isLabelled() {
    return !label.equals(RMNodeLabelsManager.NO_LABEL);
  }

  private boolean isAccepted(FiCaSchedulerNode node, DiagnosticsCollector why) {
    SchedulingMode mode =
        label.equals(node.getPartition())
            ? SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY
            : SchedulingMode.IGNORE_PARTITION_EXCLUSIVITY;
    return attempt.getAppSchedulingInfo().precheckNode(key, node, mode, Optional.of(why));
  }

  /** In quotes; null if the node was refused for another reason. */
  private static String constraintOf(GenericDiagnosticsCollector why) {
    String told = why.getDiagnostics();
    return told == null || !told.startsWith(BY_CONSTRAINT)
        ? null
        : told.substring(BY_CONSTRAINT.length(), told.lastIndexOf('"') + 1);
  }

  private static String names(List<FiCaSchedulerNode> nodes) {
    TreeSet<String> names = new TreeSet<>();
    nodes.forEach(node -> names.add(node.getNodeName()));
    return named(names);
  }

  /** The first few: an application may request hundreds. */
  private static String named(SortedSet<String> places) {
    String named =
        places.stream()
            .limit(MOST_NAMES)
            .map(place -> (isRack(place) ? "rack " : "node ") + place)
            .collect(Collectors.joining(", "));
    int others = places.size() - MOST_NAMES;
    return others <= 0 ? named : named + " and " + others + " more";
  }

  private static boolean isRack(String place) {
    return place.startsWith(RACK_PREFIX);
  }
}
