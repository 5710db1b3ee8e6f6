package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.elastane.Await;

/** What Hadoop's metrics system has of Elastane. */
final class Published {
  private Published() {}

  /** The metrics of a source as they are now; a bean has them from up to 10 s ago. */
  static Map<String, Number> metricsOf(MetricsSource source) {
    Map<String, Number> values = new TreeMap<>();
    MetricsCollectorImpl collector = new MetricsCollectorImpl();
    source.getMetrics(collector, true);
    for (MetricsRecord record : collector.getRecords()) {
      record.metrics().forEach(metric -> values.put(metric.name(), metric.value()));
    }
    return values;
  }

  /** Sizes and the core's figures are up to a second old. */
  static void await(String metric, int value, Supplier<MetricsSource> source) throws Exception {
    Await.until(
        metric + " is " + value,
        () -> {
          MetricsSource found = source.get();
          Number now = found == null ? null : metricsOf(found).get(metric);
          return now != null && now.doubleValue() == value;
        });
  }

  static void await(String metric, int value, String source) throws Exception {
    await(metric, value, () -> DefaultMetricsSystem.instance().getSource(source));
  }

  /** Whether there is a bean of this name; {@code *} stands for anything. */
  static boolean hasBean(String name) throws Exception {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    return !beans.queryNames(new ObjectName("Hadoop:service=*,name=" + name), null).isEmpty();
  }
}
