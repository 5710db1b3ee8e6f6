package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.ToIntFunction;
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
  private static final int NO_TIME_OUT = -1;
  private static final int CHANGES_AT_ONCE = 4096;

  /** The most of the core's changes that a heartbeat takes over. */
  private static final int TAKEN_OVER_AT_ONCE = 64;

  private final ToIntFunction<NumberBuffer> bookableChanges;
  private final CoreNodes nodes;
  private final Function<NodeId, FiCaSchedulerNode> schedulerNodes;
  private final NodeResizes resizes;
  private final LargestRegistered largest;
  private final Lock lock;

  /**
   * Held while the core is asked. A thread that needs the scheduler's lock and this lock takes the
   * scheduler's lock first.
   */
  private final ReentrantLock toldLock = new ReentrantLock();

  private final NumberBuffer told = new NumberBuffer(3 * CHANGES_AT_ONCE);
  private int toldCount;
  private int takenOver;

  /**
   * The core is being asked, or its answer is still to be taken over, or nodes that could not be
   * resized are to be tried again.
   */
  private volatile boolean mayBeTold;

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
    this(core::bookableChanges, nodes, schedulerNodes, capacityScheduler, lock);
  }

  /**
   * @param bookableChanges as {@link CoreHandle#bookableChanges}
   * @param lock the scheduler's write lock
   */
  BookableCapacity(
      ToIntFunction<NumberBuffer> bookableChanges,
      CoreNodes nodes,
      Function<NodeId, FiCaSchedulerNode> schedulerNodes,
      NodeResizes.Resizer capacityScheduler,
      Lock lock) {
    this.bookableChanges = bookableChanges;
    this.nodes = nodes;
    this.schedulerNodes = schedulerNodes;
    this.resizes =
        new NodeResizes(
            record -> nodes.find(record.rmNode.getNodeID()) == record,
            schedulerNodes,
            capacityScheduler,
            System::nanoTime);
    this.lock = lock;
    largest = new LargestRegistered(nodes::all);
  }

  /**
   * Asks the core which nodes to resize, once its former answer is taken over; {@link #followOn}
   * resizes them. Needs no lock of the scheduler.
   */
  void follow() {
    toldLock.lock();
    try {
      if (toldCount == 0) {
        mayBeTold = true;
        toldCount = bookableChanges.applyAsInt(told);
      }
    } finally {
      // A node that could not be resized is tried again once a second.
      mayBeTold = toldCount > 0 || resizes.areAnyLeft();
      toldLock.unlock();
    }
  }

  /**
   * Resizes this node, if it is still to be resized, and the next of the others.
   *
   * @throws NodeResizeException if a node cannot be resized; a later call tries it again
   */
  void followOn(NodeId first) {
    lock.lock();
    try {
      NodeRecord record = nodes.find(first);
      // While the core is being asked, heartbeats do not wait for its answer.
      if (mayBeTold && toldLock.tryLock()) {
        try {
          takeOver(
              TAKEN_OVER_AT_ONCE,
              record == null ? Collections.emptySet() : Collections.singleton(record));
        } finally {
          toldLock.unlock();
        }
      }
      if (!lowering) {
        resizes.applySome(record);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes over the next {@code count} ratios that {@link #follow} was told, and those of the nodes
   * {@code wanted}.
   *
   * <p>The caller holds both locks.
   */
  private void takeOver(int count, Set<NodeRecord> wanted) {
    if (lowering) {
      forgetTold();
      return;
    }
    int end = Math.min(toldCount, takenOver + count);
    boolean anySet = false;
    try {
      for (NodeRecord record : wanted) {
        anySet |= takeOver(record);
      }
      while (takenOver < end) {
        anySet |= takeOver(takenOver++);
      }
    } finally {
      // Not before the last ratio is set: another thread would keep what it found among the old.
      if (anySet) {
        largest.changed();
      }
    }
    if (takenOver == toldCount) {
      resizes.addThoseLeft();
      forgetTold();
    }
  }

  /** Whether the answer names the node; it names each node once at most. */
  private boolean takeOver(NodeRecord record) {
    for (int i = takenOver; i < toldCount; i++) {
      if (told.get(3 * i) == record.number) {
        return takeOver(i);
      }
    }
    return false;
  }

  /** Whether the node is still known. */
  private boolean takeOver(int index) {
    NodeRecord record = nodes.find(told.get(3 * index));
    if (record == null) {
      return false;
    }
    record.setRatio(new NodeRecord.Ratio(told.get(3 * index + 1), told.get(3 * index + 2)));
    resizes.add(record);
    return true;
  }

  /** The caller holds {@link #toldLock}. */
  private void forgetTold() {
    toldCount = 0;
    takenOver = 0;
    mayBeTold = false;
  }

  /**
   * Resizes these nodes now, those of them that are still to be resized: what is about to be booked
   * there must not see a size that the core has given up. Waits while the core is being asked.
   *
   * @throws NodeResizeException as {@link #followOn}
   */
  void followNow(Collection<NodeId> bookedOn) {
    lock.lock();
    try {
      Set<NodeRecord> records = recordsOf(bookedOn);
      if (mayBeTold) {
        toldLock.lock();
        try {
          takeOver(0, records);
        } finally {
          toldLock.unlock();
        }
      }
      if (!lowering) {
        resizes.applyNow(records);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether {@link #followOn} has something to do: an answer of the core to take over or to wait
   * for, nodes to resize or to try again, or queues to recompute.
   */
  boolean hasMoreToResize() {
    return mayBeTold || !resizes.isEmpty();
  }

  /** Whether {@link #lowerSome} has something to do before it tries nodes again that failed. */
  boolean hasMoreToLower() {
    return !resizes.isEmpty();
  }

  /** Whether a node is raised, or still to be resized. */
  boolean isAnyRaised() {
    return largest.get() != null || !resizes.isEmpty() || resizes.areAnyLeft();
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
      // The former core's numbers.
      toldLock.lock();
      try {
        forgetTold();
      } finally {
        toldLock.unlock();
      }
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
    resizes.applySome(null);
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
    // Changes that are not applied yet have to be forgotten, and every node looked at. Whoever
    // would
    // take over an answer of the core forgets it: waiting for it here could take for ever.
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
