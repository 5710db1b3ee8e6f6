package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.Function;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * The node that CapacityScheduler has taken out of its list for the moment of a resize. Who asks
 * for a node without the scheduler's lock would not find it: an ApplicationMaster's release of a
 * container would be lost, for instance.
 */
final class NodeBeingResized {
  private volatile FiCaSchedulerNode node;

  /** Runs the resize of this node. The caller holds the scheduler's write lock. */
  void during(FiCaSchedulerNode resized, Runnable resize) {
    node = resized;
    try {
      resize.run();
    } finally {
      node = null;
    }
  }

  /**
   * The node with this id, in the list or being resized.
   *
   * @param listed looks into CapacityScheduler's list
   * @return null only if the node is unknown
   */
  FiCaSchedulerNode find(NodeId id, Function<NodeId, FiCaSchedulerNode> listed) {
    FiCaSchedulerNode found = listed.apply(id);
    if (found != null) {
      return found;
    }
    FiCaSchedulerNode resized = node;
    // If the resize has ended meanwhile, the node is in the list again.
    return resized != null && resized.getNodeID().equals(id) ? resized : listed.apply(id);
  }
}
