package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** What the core knows, on the ResourceManager's /jmx as {@code ElastaneStatus}. */
public interface CoreStatusMXBean {
  /**
   * Nodes with what is booked and how old their report is, applications that wait with the reason,
   * and counts, as JSON, at most a second old; {@code {}} while the core is out of service.
   */
  String getStatus();
}
