package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** A node that the core knows, with the ratio of its bookable to its registered size. */
final class NodeRecord {
  static final int PHYSICAL_RATIO_THOUSANDTHS = 1000;

  final RMNode rmNode;
  final int number;
  private volatile Resource registered;
  private volatile int ratioThousandths = PHYSICAL_RATIO_THOUSANDTHS;
  private volatile long memoryMibBeforeLowering;

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

  void setRatioThousandths(int ratio) {
    ratioThousandths = ratio;
  }

  /** Returns to the registered size, for good. */
  void lower() {
    memoryMibBeforeLowering = bookable().getMemorySize();
    ratioThousandths = PHYSICAL_RATIO_THOUSANDTHS;
  }

  /** The bookable memory before {@link #lower()}; at least the registered memory. */
  long memoryMibBeforeLowering() {
    return Math.max(memoryMibBeforeLowering, registered.getMemorySize());
  }

  boolean isRaised() {
    return ratioThousandths > PHYSICAL_RATIO_THOUSANDTHS;
  }

  /** The registered size with its memory and virtual cores multiplied by the ratio. */
  Resource bookable() {
    int ratio = ratioThousandths;
    Resource size = Resources.clone(registered);
    size.setMemorySize(scaled(size.getMemorySize(), ratio));
    size.setVirtualCores((int) scaled(size.getVirtualCores(), ratio));
    return size;
  }

  private static long scaled(long amount, int ratio) {
    return amount * ratio / PHYSICAL_RATIO_THOUSANDTHS;
  }
}
