package org.elastane.usage;

import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.annotation.Metric;
import org.apache.hadoop.metrics2.annotation.Metrics;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;

/** The usage protocol's counters, on the ResourceManager's /jmx as {@code ElastaneUsage}. */
@Metrics(name = UsageMetrics.NAME, about = "Reports of Elastane's agents", context = "yarn")
final class UsageMetrics {
  static final String NAME = "ElastaneUsage";

  @Metric("Reports that the core accepted")
  MutableCounterLong reports;

  @Metric("Reports that were refused")
  MutableCounterLong refused;

  private UsageMetrics() {}

  static UsageMetrics register() {
    MetricsSystem system = DefaultMetricsSystem.instance();
    // A ResourceManager that becomes active again starts another server in the same JVM.
    system.unregisterSource(NAME);
    return system.register(NAME, "Reports of Elastane's agents", new UsageMetrics());
  }
}
