package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;

/**
 * Holds back the events that the label manager sends when Elastane resizes a node: one as if the
 * node left, one as if it came back. They change no label, and CapacityScheduler would recompute
 * every queue for each of them.
 */
final class LabelEvents {
  private static final int EVENTS_OF_A_RESIZE = 2;

  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final Function<NodeId, Set<String>> labels;
  private final Map<NodeId, Integer> expected = new ConcurrentHashMap<>();
  private final AtomicInteger expectedWithoutNode = new AtomicInteger();
  private final LongAdder heldBack = new LongAdder();

  /**
   * @param labels the labels of a node as the label manager has them
   */
  LabelEvents(
      Function<NodeId, FiCaSchedulerNode> schedulerNodes, Function<NodeId, Set<String>> labels) {
    this.schedulerNodes = schedulerNodes;
    this.labels = labels;
  }

  /** To be called before the node is resized. */
  void expect(NodeId node) {
    // Events that never came would add up, as a node may be resized any number of times.
    expected.put(node, EVENTS_OF_A_RESIZE);
    expectedWithoutNode.incrementAndGet();
  }

  /** Whether an event was caused by a resize and changes no label. */
  boolean holdsBack(NodeLabelsUpdateSchedulerEvent event) {
    boolean isOfResize = isOfResize(event.getUpdatedNodeToLabels().keySet());
    if (isOfResize) {
      heldBack.increment();
    }
    return isOfResize;
  }

  /** The number of events held back so far. */
  long heldBack() {
    return heldBack.sum();
  }

  private boolean isOfResize(Set<NodeId> nodes) {
    if (nodes.isEmpty()) {
      // A node that left has no labels; CapacityScheduler recomputes when it removes the node.
      return expectedWithoutNode.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
    }
    if (nodes.size() > 1) {
      return false;
    }
    NodeId node = nodes.iterator().next();
    FiCaSchedulerNode schedulerNode = schedulerNodes.apply(node);
    if (schedulerNode == null) {
      expected.remove(node);
      return false;
    }
    if (!schedulerNode.getLabels().equals(labels.apply(node))) {
      return false;
    }
    Integer before = expected.get(node);
    expected.computeIfPresent(node, (any, count) -> count == 1 ? null : count - 1);
    return before != null;
  }
}
