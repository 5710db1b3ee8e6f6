package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** Sources of Hadoop's metrics system, from which /jmx, /prom and every sink are served. */
final class MetricsSources {
  private MetricsSources() {}

  /** With high availability, one JVM makes several schedulers one after the other. */
  static void register(String name, String about, MetricsSource source) {
    MetricsSystem system = DefaultMetricsSystem.instance();
    system.unregisterSource(name);
    system.register(name, about, source);
  }

  /** Removes the source, unless another one has its name by now. */
  static void unregister(String name, MetricsSource source) {
    MetricsSystem system = DefaultMetricsSystem.instance();
    if (system.getSource(name) == source) {
      system.unregisterSource(name);
    }
  }
}
