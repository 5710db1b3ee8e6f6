package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** The core's status, on the ResourceManager's /jmx as {@code ElastaneStatus}. */
public interface CoreStatusMXBean {
  /**
   * JSON with the nodes' bookings and the age of their reports, the waiting applications with their
   * reasons, and counters. At most a second old; {@code {}} while the core is out of service.
   */
  String getStatus();
}
