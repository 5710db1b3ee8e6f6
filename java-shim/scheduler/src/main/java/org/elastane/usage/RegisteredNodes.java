package org.elastane.usage;

import org.apache.hadoop.yarn.api.records.NodeId;

/** The nodes that have registered with this ResourceManager. */
@FunctionalInterface
public interface RegisteredNodes {
  boolean contains(NodeId node);
}
