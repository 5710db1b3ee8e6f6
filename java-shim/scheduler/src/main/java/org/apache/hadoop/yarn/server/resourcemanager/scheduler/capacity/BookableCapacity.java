package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.hadoop.util.Time;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
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
 */
final class BookableCapacity {
  private static final Logger LOG = LoggerFactory.getLogger(BookableCapacity.class);
  private static final long CHECK_INTERVAL_MS = 1000;
  private static final int NO_TIME_OUT = -1;
  private static final int CHANGES_AT_ONCE = 4096;

  private final CoreHandle core;
  private final CoreNodes nodes;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final Consumer<NodeResourceUpdateSchedulerEvent> capacityScheduler;
  private final Lock lock;
  private final NumberBuffer changes = new NumberBuffer(2 * CHANGES_AT_ONCE);
  private final AtomicLong nextCheckMs = new AtomicLong(Time.monotonicNow());
  private final Set<NodeId> timeOutsLogged = ConcurrentHashMap.newKeySet();
  private final Set<NodeId> failuresLogged = ConcurrentHashMap.newKeySet();
  private final Set<NodeRecord> toLower = new HashSet<>();
  private boolean ended;
  private volatile boolean lowered;

  /**
   * @param capacityScheduler resizes a node, under the same lock
   * @param lock the scheduler's write lock
   */
  BookableCapacity(
      CoreHandle core,
      CoreNodes nodes,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      Consumer<NodeResourceUpdateSchedulerEvent> capacityScheduler,
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
   * Asks the core which nodes to resize, and resizes them.
   *
   * @throws IllegalStateException if a node cannot be resized; all others are resized
   */
  void follow() {
    lock.lock();
    try {
      int written = ended ? 0 : core.bookableChanges(changes);
      Set<NodeRecord> changed = new HashSet<>();
      for (int i = 0; i < written; i++) {
        NodeRecord record = nodes.find(changes.get(2 * i));
        if (record != null) {
          record.setRatioThousandths(changes.get(2 * i + 1));
          changed.add(record);
        }
      }
      applyEach(changed);
    } finally {
      lock.unlock();
    }
  }

  /** CapacityScheduler has taken a new registered size; the node keeps its ratio. */
  void registeredSizeChanged(NodeRecord record, Resource registered) {
    lock.lock();
    try {
      record.setRegistered(registered);
      apply(record);
    } finally {
      lock.unlock();
    }
  }

  /** Whether {@link #lowerAll} has lowered every node. */
  boolean isLowered() {
    return lowered;
  }

  /**
   * Returns every raised node to its registered size, for good. Needs no core. A concurrent call
   * waits for the end, so its thread places nothing on a node that is still raised.
   *
   * @throws IllegalStateException if a node cannot be resized; all others are resized, and the next
   *     call tries that node again
   */
  void lowerAll() {
    lock.lock();
    try {
      ended = true;
      for (NodeRecord record : nodes.all()) {
        if (record.isRaised()) {
          record.lower();
          toLower.add(record);
        }
      }
      applyEach(toLower);
      lowered = true;
    } finally {
      lock.unlock();
    }
  }

  /** The number of nodes that are larger than their registered size. */
  int raisedNodes() {
    int raised = 0;
    for (NodeRecord record : nodes.all()) {
      FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
      if (node != null && !Resources.fitsIn(node.getTotalResource(), record.registered())) {
        raised++;
      }
    }
    return raised;
  }

  /**
   * The change of a registered size that CapacityScheduler is to handle. The overcommit time-out is
   * removed in two cases: it would kill containers that Elastane booked above the registered size,
   * or no container is above the new size and the time-out would only keep the node from being
   * raised.
   */
  NodeResourceUpdateSchedulerEvent withoutHarmfulTimeOut(NodeResourceUpdateSchedulerEvent event) {
    ResourceOption option = event.getResourceOption();
    NodeRecord record = nodes.find(event.getRMNode().getNodeID());
    FiCaSchedulerNode node = schedulerNodes.apply(event.getRMNode().getNodeID());
    if (option.getOverCommitTimeout() < 0 || record == null || node == null) {
      return event;
    }
    Resource allocated = node.getAllocatedResource();
    boolean bookedAbove = record.isRaised() || !Resources.fitsIn(allocated, record.registered());
    if (bookedAbove && !Resources.fitsIn(allocated, option.getResource())) {
      LOG.warn(
          "{} changes to {}, and its overcommit time-out of {} ms is dropped: the time-out would"
              + " kill containers placed above the registered size ({} is allocated)",
          node.getNodeID(),
          option.getResource(),
          option.getOverCommitTimeout(),
          allocated);
    } else if (!Resources.fitsIn(allocated, option.getResource())) {
      return event;
    }
    return new NodeResourceUpdateSchedulerEvent(
        event.getRMNode(), ResourceOption.newInstance(option.getResource(), NO_TIME_OUT));
  }

  /** Resizes these nodes, and removes each resized one from the set. */
  private void applyEach(Set<NodeRecord> records) {
    IllegalStateException failure = null;
    for (Iterator<NodeRecord> left = records.iterator(); left.hasNext(); ) {
      NodeRecord record = left.next();
      try {
        apply(record);
        left.remove();
      } catch (RuntimeException e) {
        failure = cannotBeResized(record, e);
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  private IllegalStateException cannotBeResized(NodeRecord record, RuntimeException cause) {
    NodeId node = record.rmNode.getNodeID();
    String message = node + " cannot be resized to " + record.bookable();
    if (failuresLogged.add(node)) {
      LOG.error("{} (further failures are only counted)", message, cause);
    }
    return new IllegalStateException(message, cause);
  }

  /** Resizes a node to its bookable capacity, unless the node may not be raised now. */
  private void apply(NodeRecord record) {
    if (record.rmNode.getState() != NodeState.RUNNING) {
      // CapacityScheduler shrinks a decommissioning node as its containers end.
      return;
    }
    FiCaSchedulerNode node = schedulerNodes.apply(record.rmNode.getNodeID());
    if (node == null || (record.isRaised() && hasTimeOut(node))) {
      return;
    }
    Resource size = record.bookable();
    if (!node.getTotalResource().equals(size)) {
      capacityScheduler.accept(
          new NodeResourceUpdateSchedulerEvent(
              record.rmNode, ResourceOption.newInstance(size, NO_TIME_OUT)));
    }
  }

  private boolean hasTimeOut(FiCaSchedulerNode node) {
    boolean hasTimeOut = node.isOvercommitTimeOutSet();
    if (hasTimeOut && timeOutsLogged.add(node.getNodeID())) {
      LOG.warn(
          "{} has an overcommit time-out: its bookable capacity stays at the registered size until"
              + " the node registers again",
          node.getNodeID());
    }
    return hasTimeOut;
  }
}
