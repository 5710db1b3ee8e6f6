package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.NodeState;

/** Tells the core which nodes are being decommissioned gracefully. */
final class NodeDrains {
  private final CoreHandle core;
  private final CoreNodes nodes;
  private volatile boolean areAny;

  NodeDrains(CoreHandle core, CoreNodes nodes) {
    this.core = core;
    this.nodes = nodes;
  }

  /** To be called every second or so. */
  void follow() {
    int[] draining =
        nodes.all().stream()
            .filter(record -> record.rmNode.getState() == NodeState.DECOMMISSIONING)
            .mapToInt(record -> record.number)
            .toArray();
    if (draining.length > 0 || areAny) {
      core.draining(draining);
      areAny = draining.length > 0;
    }
  }
}
