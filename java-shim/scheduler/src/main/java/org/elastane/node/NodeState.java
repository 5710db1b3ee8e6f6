package org.elastane.node;

import java.util.Optional;
import org.apache.hadoop.yarn.api.records.NodeId;

/** What the node service has to know of its NodeManager. Asked from its own threads only. */
interface NodeState {
  /** The containers with a process, as of now. */
  RunningContainers runningContainers();

  /** The name that this node has registered with; empty until it has. */
  Optional<NodeId> registeredAs();
}
