package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes that are to be resized to their bookable capacity, a few in each call: a resize takes
 * CapacityScheduler 0.25 ms in a cluster of 5,000 nodes, several times as long while the JVM is
 * cold, and all others wait for its lock.
 *
 * <p>CapacityScheduler recomputes every queue for each resize that it is told of. Here the queues
 * are recomputed once in each call.
 *
 * <p>The caller holds the scheduler's write lock, except in {@link #isEmpty} and {@link
 * #areAnyLeft}.
 */
final class NodeResizes {
  private static final Logger LOG = LoggerFactory.getLogger(NodeResizes.class);
  private static final int NODES_IN_BATCH = 24;

  /** After this time no further resize begins in a call of {@link #applySome}. */
  private static final long BATCH_NS = TimeUnit.MILLISECONDS.toNanos(5);

  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final Resizer capacityScheduler;
  private final SaidOnce timeOutsLogged = new SaidOnce();
  private final SaidOnce failuresLogged = new SaidOnce();
  private final Set<NodeRecord> next = new LinkedHashSet<>();

  /** They failed, or must not grow yet. */
  private final Set<NodeRecord> later = new LinkedHashSet<>();

  private volatile boolean empty = true;
  private volatile boolean anyLeft;

  /** CapacityScheduler's part of a resize. The caller holds the scheduler's write lock. */
  interface Resizer {
    void resize(RMNode node, Resource size);

    void recomputeQueues();
  }

  NodeResizes(Function<NodeId, FiCaSchedulerNode> schedulerNodes, Resizer capacityScheduler) {
    this.schedulerNodes = schedulerNodes;
    this.capacityScheduler = capacityScheduler;
  }

  void add(NodeRecord record) {
    next.add(record);
    empty = false;
  }

  /** Those that could not be resized come again, after the others. */
  void addThoseLeft() {
    later.forEach(this::add);
    later.clear();
    anyLeft = false;
  }

  void clear() {
    next.clear();
    later.clear();
    empty = true;
    anyLeft = false;
  }

  /** Whether nothing is left to resize but what {@link #addThoseLeft} adds. */
  boolean isEmpty() {
    return empty;
  }

  /** Whether a node could not be resized. */
  boolean areAnyLeft() {
    return anyLeft;
  }

  /**
   * Resizes the next nodes.
   *
   * @throws NodeResizeException if a node cannot be resized; the others are resized
   */
  void applySome() {
    try {
      applyFirst(NODES_IN_BATCH, next, BATCH_NS);
    } finally {
      empty = next.isEmpty();
    }
  }

  /**
   * Resizes these nodes, those of them that are to be resized.
   *
   * @throws NodeResizeException if a node cannot be resized; the others are resized
   */
  void applyNow(Set<NodeRecord> records) {
    records.removeIf(record -> !next.remove(record) && !later.remove(record));
    empty = next.isEmpty();
    applyFirst(records.size(), records, Long.MAX_VALUE);
  }

  private void applyFirst(int count, Set<NodeRecord> records, long withinNs) {
    long beganNs = System.nanoTime();
    NodeResizeException failure = null;
    boolean anyResized = false;
    Iterator<NodeRecord> left = records.iterator();
    for (int i = 0; i < count && left.hasNext(); i++) {
      if (System.nanoTime() - beganNs >= withinNs) {
        break;
      }
      NodeRecord record = left.next();
      left.remove();
      try {
        if (mustNotGrowYet(record)) {
          later.add(record);
        } else {
          anyResized |= apply(record);
        }
      } catch (RuntimeException e) {
        later.add(record);
        failure = cannotBeResized(record, e);
      }
    }
    anyLeft = !later.isEmpty();
    if (anyResized) {
      capacityScheduler.recomputeQueues();
    }
    if (failure != null) {
      throw failure;
    }
  }

  private NodeResizeException cannotBeResized(NodeRecord record, RuntimeException cause) {
    NodeId node = record.rmNode.getNodeID();
    String message = node + " cannot be resized to " + record.bookable();
    if (failuresLogged.isFirst(node)) {
      LOG.error("{} (further failures are only counted)", message, cause);
    }
    return new NodeResizeException(message, cause);
  }

  /**
   * Resizes a node to its bookable capacity, unless the node may not be raised now.
   *
   * @return whether the node was resized
   */
  private boolean apply(NodeRecord record) {
    if (record.rmNode.getState() != NodeState.RUNNING) {
      // CapacityScheduler shrinks a decommissioning node as its containers end.
      return false;
    }
    FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
    if (node == null || (record.isRaised() && hasTimeOut(node))) {
      return false;
    }
    Resource size = record.bookable();
    if (node.getTotalResource().equals(size)) {
      return false;
    }
    capacityScheduler.resize(record.rmNode, size);
    return true;
  }

  /**
   * Whether containers there are marked for lazy preemption. CapacityScheduler kills them only for
   * lack of room, and the queue that they are to make room for would wait.
   */
  private boolean mustNotGrowYet(NodeRecord record) {
    FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
    return record.isRaised() && node != null && !node.getKillableContainers().isEmpty();
  }

  private boolean hasTimeOut(FiCaSchedulerNode node) {
    boolean hasTimeOut = node.isOvercommitTimeOutSet();
    if (hasTimeOut && timeOutsLogged.isFirst(node.getNodeID())) {
      LOG.warn(
          "{} has an overcommit time-out: its bookable capacity stays at the registered size until"
              + " the node registers again",
          node.getNodeID());
    }
    return hasTimeOut;
  }
}
