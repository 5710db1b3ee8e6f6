package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Resizes each SchedulerNode to its bookable capacity. The RMNode and the NodeManager keep the
 * registered size.
 *
 * <p>No resize made here carries an overcommit time-out, and a node that has one is not raised:
 * when the time-out ends, CapacityScheduler kills containers above the node's size, and a
 * SchedulerNode's time-out cannot be cancelled.
 *
 * <p>CapacityScheduler recomputes every queue for each resize that it is told of. Here nodes are
 * resized in batches, and the queues are recomputed once for each batch.
 */
final class BookableCapacity {
  private static final Logger LOG = LoggerFactory.getLogger(BookableCapacity.class);
  private static final long CHECK_INTERVAL_MS = 1000;
  private static final int NO_TIME_OUT = -1;
  private static final int CHANGES_AT_ONCE = 4096;

  /** The scheduler's lock is released after this many nodes. */
  private static final int NODES_IN_BATCH = 24;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final Resizer capacityScheduler;
  private final Lock lock;
  private final NumberBuffer changes = new NumberBuffer(3 * CHANGES_AT_ONCE);
  private final AtomicBoolean following = new AtomicBoolean();
  private final AtomicLong nextCheckMs = new AtomicLong(Time.monotonicNow());
  private final SaidOnce timeOutsLogged = new SaidOnce();
  private final SaidOnce failuresLogged = new SaidOnce();
  private final Set<NodeRecord> toLower = new HashSet<>();
  private final Set<NodeRecord> toFollow = new HashSet<>();
  private boolean ended;
  private volatile boolean lowered;
  private volatile Resource largestRegistered;

  /** CapacityScheduler's part of a resize. The caller holds the scheduler's write lock. */
  interface Resizer {
    void resize(RMNode node, Resource size);

    void recomputeQueues();
  }

  /**
   * @param lock the scheduler's write lock
   */
  BookableCapacity(
      CoreHandle core,
      CoreNodes nodes,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      Resizer capacityScheduler,
      Lock lock) {
    this.core = core;
    this.nodes = nodes;
    this.schedulerNodes = schedulerNodes;
    this.capacityScheduler = capacityScheduler;
    this.lock = lock;
  }

  /** True for one caller each second. */
  boolean isDue() {
    long nowMs = Time.monotonicNow();
    long dueMs = nextCheckMs.get();
    return nowMs >= dueMs && nextCheckMs.compareAndSet(dueMs, nowMs + CHECK_INTERVAL_MS);
  }

  /**
   * Asks the core which nodes to resize, and resizes them. The core is asked without the
   * scheduler's lock.
   *
   * @throws NodeResizeException if a node cannot be resized; all others are resized, and the next
   *     call tries that node again
   */
  void follow() {
    if (!following.compareAndSet(false, true)) {
      return;
    }
    try {
      int count = core.bookableChanges(changes);
      NodeResizeException failure = null;
      int from = 0;
      // At least once: nodes that could not be resized before are tried again.
      do {
        try {
          resize(from, Math.min(count, from + NODES_IN_BATCH));
        } catch (NodeResizeException e) {
          failure = e;
        }
        from += NODES_IN_BATCH;
      } while (from < count);
      if (failure != null) {
        throw failure;
      }
    } finally {
      following.set(false);
    }
  }

  private void resize(int from, int to) {
    lock.lock();
    try {
      if (ended) {
        return;
      }
      for (int i = from; i < to; i++) {
        NodeRecord record = nodes.find(changes.get(3 * i));
        if (record != null) {
          record.setRatio(new NodeRecord.Ratio(changes.get(3 * i + 1), changes.get(3 * i + 2)));
          toFollow.add(record);
        }
      }
      applyEach(toFollow);
    } finally {
      lock.unlock();
    }
  }

  /** CapacityScheduler has taken a new registered size; the node keeps its ratio. */
  void registeredSizeChanged(NodeRecord record, Resource registered) {
    lock.lock();
    try {
      record.setRegistered(registered);
      applyEach(new HashSet<>(Collections.singleton(record)));
    } finally {
      lock.unlock();
    }
  }

  /** A node came or went. */
  void nodesChanged() {
    largestRegistered = findLargestRegistered();
  }

  /** A new core is about to be in service: nodes may be raised again. */
  void coreIsNew() {
    lock.lock();
    try {
      ended = false;
      lowered = false;
      toLower.clear();
      toFollow.clear();
      // Also those that could not be lowered.
      toFollow.addAll(nodes.all());
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #lowerAll} has lowered every node. */
  boolean isLowered() {
    return lowered;
  }

  /**
   * Returns every raised node to its registered size, until a new core is in service. Needs no
   * core. A concurrent call waits for the end, so its thread places nothing on a node that is still
   * raised.
   *
   * @throws NodeResizeException if a node cannot be resized; all others are resized, and the next
   *     call tries that node again
   */
  void lowerAll() {
    lock.lock();
    try {
      ended = true;
      long nowMs = Time.monotonicNow();
      for (NodeRecord record : nodes.all()) {
        if (record.isRaised()) {
          record.lower(nowMs);
          toLower.add(record);
        }
      }
      applyEach(toLower);
      lowered = true;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The largest size that a node registered, in each resource; null while no node is raised. A
   * container must fit a node, whatever may be booked there.
   */
  Resource largestRegistered() {
    return largestRegistered;
  }

  /**
   * The change of a registered size that CapacityScheduler is to handle. The overcommit time-out is
   * removed where it would end nothing: it would only keep the node from being raised.
   */
  NodeResourceUpdateSchedulerEvent withoutIdleTimeOut(NodeResourceUpdateSchedulerEvent event) {
    ResourceOption option = event.getResourceOption();
    FiCaSchedulerNode node = schedulerNodes.apply(event.getRMNode().getNodeID());
    if (option.getOverCommitTimeout() < 0
        || node == null
        || nodes.find(event.getRMNode().getNodeID()) == null
        || !Resources.fitsIn(node.getAllocatedResource(), option.getResource())) {
      return event;
    }
    return new NodeResourceUpdateSchedulerEvent(
        event.getRMNode(), ResourceOption.newInstance(option.getResource(), NO_TIME_OUT));
  }

  /** Resizes these nodes, and removes each resized one from the set. */
  private void applyEach(Set<NodeRecord> records) {
    NodeResizeException failure = null;
    boolean anyResized = false;
    for (Iterator<NodeRecord> left = records.iterator(); left.hasNext(); ) {
      NodeRecord record = left.next();
      if (mustNotGrowYet(record)) {
        continue;
      }
      try {
        anyResized |= apply(record);
        left.remove();
      } catch (RuntimeException e) {
        failure = cannotBeResized(record, e);
      }
    }
    if (anyResized) {
      capacityScheduler.recomputeQueues();
      largestRegistered = findLargestRegistered();
    }
    if (failure != null) {
      throw failure;
    }
  }

  private Resource findLargestRegistered() {
    boolean anyRaised = false;
    Resource largest = Resources.none();
    for (NodeRecord record : nodes.all()) {
      anyRaised |= record.isRaised();
      largest = Resources.componentwiseMax(largest, record.registered());
    }
    return anyRaised ? largest : null;
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
