package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * Sums over nodes: what containers used by the newest report of each node's agent, and what they
 * were planned to use then.
 */
final class MeasuredUse {
  private double memoryBytes;
  private double cpuCores;
  private double plannedMemoryBytes;
  private double plannedCpuCores;
  private int reports;

  /**
   * @param node the core's status of a node; missing if the core does not know the node
   */
  void add(JsonNode node) {
    addReport(node.path("measured"));
  }

  /**
   * @param report what it says of used and planned amounts; missing if there is none
   */
  void addReport(JsonNode report) {
    if (report.isObject()) {
      JsonNode used = report.path("used");
      memoryBytes += used.path("memory_bytes").asDouble();
      cpuCores += used.path("cpu_cores").asDouble();
      JsonNode planned = report.path("planned");
      plannedMemoryBytes += planned.path("memory_bytes").asDouble();
      plannedCpuCores += planned.path("cpu_cores").asDouble();
      reports++;
    }
  }

  long memoryMb() {
    return mb(memoryBytes);
  }

  double cpuCores() {
    return rounded(cpuCores);
  }

  long plannedMemoryMb() {
    return mb(plannedMemoryBytes);
  }

  double plannedCpuCores() {
    return rounded(plannedCpuCores);
  }

  private static long mb(double bytes) {
    return Math.round(bytes / (1024 * 1024));
  }

  private static double rounded(double cores) {
    return Math.round(cores * 100) / 100.0;
  }

  /** The number of amounts that were added: of nodes that have reported, if nodes are added. */
  int reports() {
    return reports;
  }
}
