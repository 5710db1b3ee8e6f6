package org.elastane.usage;

import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;

/** What the usage protocol counted, on the ResourceManager's /jmx as {@code ElastaneUsage}. */
@Metrics(name = UsageMetrics.NAME, about = "Reports of Elastane's agents", context = "yarn")
final class UsageMetrics {
  static final String NAME = "ElastaneUsage";

  @Metric("Reports that the core took")
  MutableCounterLong reports;

  @Metric("Reports that were refused")
  MutableCounterLong refused;

  private UsageMetrics() {}

  static UsageMetrics register() {
    MetricsSystem system = DefaultMetricsSystem.instance();
    // A ResourceManager that became active once more starts another server in the same JVM.
    system.unregisterSource(NAME);
    return system.register(NAME, "Reports of Elastane's agents", new UsageMetrics());
  }
}
