package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** A node that the core knows, with the ratio of its bookable to its registered size. */
final class NodeRecord {
  final RMNode rmNode;
  final int number;
  private volatile Resource registered;
  private volatile Ratio ratio = Ratio.PHYSICAL;
  private volatile Lowering lowering = Lowering.NONE;

  NodeRecord(RMNode rmNode, int number, Resource registered) {
    this.rmNode = rmNode;
    this.number = number;
    this.registered = Resources.clone(registered);
  }

  /** The size that the NodeManager registered, or that an administrator set later. */
  Resource registered() {
    return registered;
  }

  void setRegistered(Resource size) {
    registered = Resources.clone(size);
  }

  void setRatio(Ratio bookable) {
    ratio = bookable;
  }

  /** Returns to the registered size, for good. */
  void lower(long nowMs) {
    lowering = new Lowering(bookable().getMemorySize(), nowMs);
    ratio = Ratio.PHYSICAL;
  }

  /** The node was lowered before a new core knew it, under another record. */
  void keepLowering(NodeRecord former) {
    lowering = former.lowering;
  }

  /** How {@link #lower} lowered this node. */
  Lowering lowering() {
    return lowering;
  }

  boolean isRaised() {
    Ratio current = ratio;
    return current.memoryThousandths > Ratio.ONE || current.virtualCoresThousandths > Ratio.ONE;
  }

  /** The registered size with its memory and virtual cores multiplied by the ratio. */
  Resource bookable() {
    Ratio current = ratio;
    Resource size = Resources.clone(registered);
    size.setMemorySize(size.getMemorySize() * current.memoryThousandths / Ratio.ONE);
    long virtualCores = size.getVirtualCores();
    size.setVirtualCores((int) (virtualCores * current.virtualCoresThousandths / Ratio.ONE));
    return size;
  }

  /** Bookable over registered size, in thousandths. */
  static final class Ratio {
    static final int ONE = 1000;
    static final Ratio PHYSICAL = new Ratio(ONE, ONE);

    private final int memoryThousandths;
    private final int virtualCoresThousandths;

    Ratio(int memoryThousandths, int virtualCoresThousandths) {
      this.memoryThousandths = memoryThousandths;
      this.virtualCoresThousandths = virtualCoresThousandths;
    }
  }

  /** A node that returned to its registered size when the core failed. */
  static final class Lowering {
    static final Lowering NONE = new Lowering(0, Long.MIN_VALUE);

    final long bookableMemoryMib;
    final long atMs;

    private Lowering(long bookableMemoryMib, long atMs) {
      this.bookableMemoryMib = bookableMemoryMib;
      this.atMs = atMs;
    }
  }
}
