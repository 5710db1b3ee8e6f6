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
  private int raised;

  void add(Resource registered, FiCaSchedulerNode node) {
    Resources.addTo(physical, registered);
    Resources.addTo(bookable, node.getTotalResource());
    Resources.addTo(booked, node.getAllocatedResource());
    if (!Resources.fitsIn(node.getTotalResource(), registered)) {
      raised++;
    }
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

  /** The number of nodes that are larger than their registered size. */
  int raised() {
    return raised;
  }
}
