package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The nodes that are to be resized to their bookable capacity. Each call resizes a few of them, the
 * one that has waited longest first, because all other threads wait for CapacityScheduler's lock
 * meanwhile. As every node has its heartbeat, all nodes are resized within about one heartbeat
 * interval: a call resizes at least one node, unless it recomputes the queues.
 *
 * <p>CapacityScheduler recomputes every queue for each resize that it is told of. With many queues
 * and applications the recomputation takes longer than the resize. Here the queues are recomputed
 * when no node is left to resize, and ten times a second at most until then.
 *
 * <p>The caller holds the scheduler's write lock, except in {@link #isEmpty} and {@link
 * #areAnyLeft}.
 */
final class NodeResizes {
  private static final Logger LOG = LoggerFactory.getLogger(NodeResizes.class);

  /** The most resizes in a call of {@link #applySome}. */
  static final int RESIZES_IN_CALL = 8;

  /** After this time no further resize begins in a call of {@link #applySome}. */
  static final long CALL_NS = TimeUnit.MICROSECONDS.toNanos(200);

  /** How old the queues' sizes may be while nodes wait to be resized. */
  static final long OUTDATED_QUEUES_NS = TimeUnit.MILLISECONDS.toNanos(100);

  private final Predicate<NodeRecord> isCurrent;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final Resizer capacityScheduler;
  private final LongSupplier clockNs;
  private final SaidOnce timeOutsLogged = new SaidOnce();
  private final SaidOnce failuresLogged = new SaidOnce();
  private final Set<NodeRecord> next = new LinkedHashSet<>();

  /** They failed, or must not grow yet. */
  private final Set<NodeRecord> later = new LinkedHashSet<>();

  /** A node was resized after the queues were recomputed. */
  private boolean queuesOutdated;

  private long queuesOutdatedSinceNs;

  /** Why a node could not be resized in the call that is under way. */
  private NodeResizeException failure;

  private volatile boolean empty = true;
  private volatile boolean anyLeft;

  /** CapacityScheduler's part of a resize. The caller holds the scheduler's write lock. */
  interface Resizer {
    void resize(RMNode node, Resource size);

    void recomputeQueues();
  }

  /**
   * @param isCurrent whether the node has not registered again under another record, or left
   */
  NodeResizes(
      Predicate<NodeRecord> isCurrent,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      Resizer capacityScheduler,
      LongSupplier clockNs) {
    this.isCurrent = isCurrent;
    this.schedulerNodes = schedulerNodes;
    this.capacityScheduler = capacityScheduler;
    this.clockNs = clockNs;
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
    empty = !queuesOutdated;
    anyLeft = false;
  }

  /** Whether {@link #applySome} has nothing to do before {@link #addThoseLeft}. */
  boolean isEmpty() {
    return empty;
  }

  /** Whether a node could not be resized. */
  boolean areAnyLeft() {
    return anyLeft;
  }

  /**
   * Resizes the next nodes, or recomputes the queues. Does both only if the resizes took less than
   * {@link #CALL_NS}.
   *
   * @param first the node that is about to be offered, which a commit would have resized; null for
   *     none
   * @throws NodeResizeException if a node cannot be resized; the others are resized
   */
  void applySome(NodeRecord first) {
    long beganNs = clockNs.getAsLong();
    if (!queuesOutdated || !areQueuesDue(beganNs)) {
      int resized = first != null && next.remove(first) ? resize(first) : 0;
      Iterator<NodeRecord> left = next.iterator();
      while (resized < RESIZES_IN_CALL && left.hasNext() && hasTime(beganNs)) {
        NodeRecord record = left.next();
        left.remove();
        resized += resize(record);
      }
    }
    if (queuesOutdated && areQueuesDue(clockNs.getAsLong()) && hasTime(beganNs)) {
      queuesOutdated = false;
      capacityScheduler.recomputeQueues();
    }
    end();
  }

  /**
   * Resizes these nodes, those of them that are to be resized. The next {@link #applySome}
   * recomputes the queues.
   *
   * @throws NodeResizeException if a node cannot be resized; the others are resized
   */
  void applyNow(Set<NodeRecord> records) {
    records.removeIf(record -> !next.remove(record) && !later.remove(record));
    records.forEach(this::resize);
    end();
  }

  private void end() {
    empty = next.isEmpty() && !queuesOutdated;
    anyLeft = !later.isEmpty();
    if (failure != null) {
      NodeResizeException thrown = failure;
      failure = null;
      throw thrown;
    }
  }

  private boolean hasTime(long beganNs) {
    return clockNs.getAsLong() - beganNs < CALL_NS;
  }

  private boolean areQueuesDue(long nowNs) {
    return next.isEmpty() || nowNs - queuesOutdatedSinceNs >= OUTDATED_QUEUES_NS;
  }

  /**
   * @return how many nodes were resized, 0 or 1
   */
  private int resize(NodeRecord record) {
    try {
      if (!isCurrent.test(record)) {
        // Its ratio was that of the former registration.
        return 0;
      }
      if (mustNotGrowYet(record)) {
        later.add(record);
      } else if (apply(record)) {
        if (!queuesOutdated) {
          queuesOutdated = true;
          queuesOutdatedSinceNs = clockNs.getAsLong();
        }
        return 1;
      }
    } catch (RuntimeException e) {
      later.add(record);
      failure = cannotBeResized(record, e);
    }
    return 0;
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
