package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** Counts of the core's status, on the ResourceManager's /jmx as {@code ElastaneStatus}. */
public interface CoreStatusMXBean {
  /**
   * JSON with the numbers of nodes, applications and containers, and with counters. It names no
   * application and no container, since whoever reaches /jmx may read it. At most a second old;
   * {@code {}} while the core is out of service.
   */
  String getStatus();
}
