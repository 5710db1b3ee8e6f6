package org.elastane.node;

import java.util.Optional;
import org.apache.hadoop.yarn.api.records.NodeId;

/** The NodeManager's state that the node service reads, on its own threads only. */
interface NodeState {
  /** The containers with a process, as of now. */
  RunningContainers runningContainers();

  /** The id with which this node has registered; empty before it has. */
  Optional<NodeId> registeredAs();
}
