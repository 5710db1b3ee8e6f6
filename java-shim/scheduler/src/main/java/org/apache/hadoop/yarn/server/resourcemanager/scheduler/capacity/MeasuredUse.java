package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Sums over nodes: what containers used by the newest report of each node's agent, and what they
 * were planned to use then.
 */
final class MeasuredUse {
  private static final int BYTES_OF_MB = 1024 * 1024;

  private final Sum planned = new Sum();
  private final Sum used = new Sum();
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
      planned.add(report.path("planned"));
      used.add(report.path("used"));
      reports++;
    }
  }

  /** The number of amounts that were added: of nodes that have reported, if nodes are added. */
  int reports() {
    return reports;
  }

  /** Adds the sums to an entry; null where nothing was measured. */
  void putInto(ObjectNode entry) {
    planned.putInto(entry, "planned", reports > 0);
    used.putInto(entry, "used", reports > 0);
  }

  private static final class Sum {
    private double memoryBytes;
    private double cpuCores;
    private double networkBytesPerS;
    private double diskBytesPerS;

    void add(JsonNode amounts) {
      memoryBytes += amounts.path("memory_bytes").asDouble();
      cpuCores += amounts.path("cpu_cores").asDouble();
      networkBytesPerS += amounts.path("network_bytes_per_s").asDouble();
      diskBytesPerS += amounts.path("disk_bytes_per_s").asDouble();
    }

    void putInto(ObjectNode entry, String kind, boolean isKnown) {
      entry.put(kind + "_memory_mb", isKnown ? Math.round(memoryBytes / BYTES_OF_MB) : null);
      entry.put(kind + "_cpu_cores", isKnown ? Math.round(cpuCores * 100) / 100.0 : null);
      entry.put(kind + "_network_bytes_per_s", isKnown ? Math.round(networkBytesPerS) : null);
      entry.put(kind + "_disk_bytes_per_s", isKnown ? Math.round(diskBytesPerS) : null);
    }
  }
}
