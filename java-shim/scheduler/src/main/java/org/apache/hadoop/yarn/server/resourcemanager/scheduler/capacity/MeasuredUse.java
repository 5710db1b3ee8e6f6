package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;

/** Sums over nodes: what containers used by the newest report of each node's agent. */
final class MeasuredUse {
  private double memoryBytes;
  private double cpuCores;
  private int reports;

  /**
   * @param status the core's status
   */
  static MeasuredUse ofAllNodes(JsonNode status) {
    MeasuredUse sum = new MeasuredUse();
    status.path("nodes").forEach(sum::add);
    return sum;
  }

  /**
   * @param node the core's status of a node; missing if the core does not know the node
   */
  void add(JsonNode node) {
    addUsed(node.path("measured").path("used"));
  }

  /**
   * @param used amounts of one report; missing if there is none
   */
  void addUsed(JsonNode used) {
    if (used.isObject()) {
      memoryBytes += used.path("memory_bytes").asDouble();
      cpuCores += used.path("cpu_cores").asDouble();
      reports++;
    }
  }

  long memoryMb() {
    return Math.round(memoryBytes / (1024 * 1024));
  }

  double cpuCores() {
    return Math.round(cpuCores * 100) / 100.0;
  }

  /** The number of amounts that were added: of nodes that have reported, if nodes are added. */
  int reports() {
    return reports;
  }
}
