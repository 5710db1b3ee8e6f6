package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Resizes each SchedulerNode to its bookable capacity. The RMNode and the NodeManager keep the
 * registered size.
 *
 * <p>No resize made here carries an overcommit time-out, and a node that has one is not raised:
 * when the time-out ends, CapacityScheduler kills containers above the node's size, and a
 * SchedulerNode's time-out cannot be cancelled.
 *
 * <p>Nodes are resized a few at each heartbeat, because CapacityScheduler's other work waits
 * meanwhile.
 */
final class BookableCapacity {
  private static final long CHECK_INTERVAL_MS = 1000;
  private static final int NO_TIME_OUT = -1;
  private static final int CHANGES_AT_ONCE = 4096;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final NodeResizes resizes;
  private final LargestRegistered largest;
  private final Lock lock;
  private final NumberBuffer changes = new NumberBuffer(3 * CHANGES_AT_ONCE);
  private final AtomicBoolean following = new AtomicBoolean();
  private final AtomicLong nextCheckMs = new AtomicLong(Time.monotonicNow());

  /** No core is in service, and every node is to return to its registered size. */
  private boolean lowering;

  private volatile boolean lowered;

  /**
   * @param lock the scheduler's write lock
   */
  BookableCapacity(
      CoreHandle core,
      CoreNodes nodes,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      NodeResizes.Resizer capacityScheduler,
      Lock lock) {
    this.core = core;
    this.nodes = nodes;
    this.schedulerNodes = schedulerNodes;
    this.resizes = new NodeResizes(schedulerNodes, capacityScheduler);
    this.lock = lock;
    largest = new LargestRegistered(nodes::all);
  }

  /** True for one caller each second. */
  boolean isDue() {
    long nowMs = Time.monotonicNow();
    long dueMs = nextCheckMs.get();
    return nowMs >= dueMs && nextCheckMs.compareAndSet(dueMs, nowMs + CHECK_INTERVAL_MS);
  }

  /**
   * Asks the core which nodes to resize, and resizes the first of them. The core is asked without
   * the scheduler's lock.
   *
   * @throws NodeResizeException if a node cannot be resized; a later call tries it again
   */
  void follow() {
    if (!following.compareAndSet(false, true)) {
      return;
    }
    try {
      int count = core.bookableChanges(changes);
      resize(
          () -> {
            for (int i = 0; i < count; i++) {
              NodeRecord record = nodes.find(changes.get(3 * i));
              if (record != null) {
                record.setRatio(
                    new NodeRecord.Ratio(changes.get(3 * i + 1), changes.get(3 * i + 2)));
                resizes.add(record);
              }
            }
            if (count > 0) {
              largest.changed();
            }
            resizes.addThoseLeft();
          });
    } finally {
      following.set(false);
    }
  }

  /**
   * Resizes the next of the nodes that {@link #follow} was told of.
   *
   * @throws NodeResizeException as there
   */
  void followOn() {
    resize(() -> {});
  }

  /**
   * Resizes these nodes now, those of them that are still to be resized: what is about to be booked
   * there must not see a size that the core has given up.
   *
   * @throws NodeResizeException as {@link #follow}
   */
  void followNow(Collection<NodeId> bookedOn) {
    lock.lock();
    try {
      if (!lowering) {
        resizes.applyNow(recordsOf(bookedOn));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether nodes are left that {@link #followOn} or {@link #lowerSome} resizes. */
  boolean hasMoreToResize() {
    return !resizes.isEmpty();
  }

  /** Whether a node is raised, or still to be resized. */
  boolean isAnyRaised() {
    return largest.get() != null || hasMoreToResize() || resizes.areAnyLeft();
  }

  private void resize(Runnable collect) {
    lock.lock();
    try {
      if (!lowering) {
        collect.run();
        resizes.applySome();
      }
    } finally {
      lock.unlock();
    }
  }

  /** CapacityScheduler has taken a new registered size; the node keeps its ratio. */
  void registeredSizeChanged(NodeRecord record, Resource registered) {
    lock.lock();
    try {
      record.setRegistered(registered);
      resizes.add(record);
      resizes.applyNow(new HashSet<>(Collections.singleton(record)));
    } finally {
      largest.changed();
      lock.unlock();
    }
  }

  /** A node came or went. */
  void nodesChanged() {
    largest.changed();
  }

  /** A new core is about to be in service: nodes may be raised again. */
  void coreIsNew() {
    lock.lock();
    try {
      lowering = false;
      lowered = false;
      resizes.clear();
      // Also those that could not be lowered.
      nodes.all().forEach(resizes::add);
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #lowerSome} has lowered every node. */
  boolean isLowered() {
    return lowered;
  }

  /**
   * Returns the next of the raised nodes to their registered size, until a new core is in service.
   * Needs no core. The caller holds the scheduler's write lock.
   *
   * @throws NodeResizeException if a node cannot be resized; the call after the last node tries it
   *     again
   */
  void lowerSome() {
    beginLowering();
    if (resizes.isEmpty()) {
      resizes.addThoseLeft();
    }
    resizes.applySome();
    lowered = resizes.isEmpty() && !resizes.areAnyLeft();
  }

  /**
   * Returns these nodes to their registered size now, so that nothing more is placed above it. The
   * caller holds the scheduler's write lock.
   *
   * @throws NodeResizeException if a node cannot be resized; the others are resized
   */
  void lowerNow(Collection<NodeId> placedOn) {
    beginLowering();
    resizes.applyNow(recordsOf(placedOn));
  }

  private Set<NodeRecord> recordsOf(Collection<NodeId> ids) {
    Set<NodeRecord> records = new HashSet<>();
    for (NodeId node : ids) {
      NodeRecord record = nodes.find(node);
      if (record != null) {
        records.add(record);
      }
    }
    return records;
  }

  private void beginLowering() {
    if (lowering) {
      return;
    }
    lowering = true;
    // Changes that are not applied yet have to be forgotten, and every node looked at.
    resizes.clear();
    long nowMs = Time.monotonicNow();
    for (NodeRecord record : nodes.all()) {
      if (record.isRaised()) {
        record.lower(nowMs);
      }
      resizes.add(record);
    }
    largest.changed();
  }

  /**
   * The largest size that a node registered, in each resource; null while no node is raised. A
   * container must fit a node, whatever may be booked there.
   */
  Resource largestRegistered() {
    return largest.get();
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
}
