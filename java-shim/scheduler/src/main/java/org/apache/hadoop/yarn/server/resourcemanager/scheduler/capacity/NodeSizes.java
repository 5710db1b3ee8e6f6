package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * Sums over nodes: what they registered, what CapacityScheduler may book there, and what it booked.
 */
final class NodeSizes {
  private final Resource physical = Resource.newInstance(0, 0);
  private final Resource bookable = Resource.newInstance(0, 0);
  private final Resource booked = Resource.newInstance(0, 0);
  private long aboveMemoryMb;
  private int nodes;
  private int raised;

  static NodeSizes of(Iterable<FiCaSchedulerNode> nodes) {
    NodeSizes sizes = new NodeSizes();
    nodes.forEach(sizes::add);
    return sizes;
  }

  void add(FiCaSchedulerNode node) {
    nodes++;
    Resources.addTo(physical, physical(node));
    Resources.addTo(bookable, node.getTotalResource());
    Resources.addTo(booked, node.getAllocatedResource());
    aboveMemoryMb +=
        Math.max(0, node.getAllocatedResource().getMemorySize() - physical(node).getMemorySize());
    if (isRaised(node)) {
      raised++;
    }
  }

  /** What a node registered, or what an administrator set later. */
  static Resource physical(FiCaSchedulerNode node) {
    // Elastane resizes the SchedulerNode only.
    return node.getRMNode().getTotalCapability();
  }

  static boolean isRaised(FiCaSchedulerNode node) {
    return !Resources.fitsIn(node.getTotalResource(), physical(node));
  }

  Resource physical() {
    return physical;
  }

  Resource bookable() {
    return bookable;
  }

  Resource booked() {
    return booked;
  }

  /** What is booked above the physical memory of each node. */
  long aboveMemoryMb() {
    return aboveMemoryMb;
  }

  int nodes() {
    return nodes;
  }

  /** The number of nodes that are larger than their physical size. */
  int raised() {
    return raised;
  }
}
