package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.hadoop.metrics2.MetricsRecord;
import org.apache.hadoop.metrics2.impl.MetricsCollectorImpl;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The metrics at /jmx. */
class ElastaneMetricsTest {
  private static final Set<String> NAMES =
      new TreeSet<>(
          Arrays.asList(
              "in_service",
              "memory_preemptions",
              "nodes_raised",
              "physical_memory_mb",
              "bookable_memory_mb",
              "booked_memory_mb",
              "physical_vcores",
              "bookable_vcores",
              "booked_vcores",
              "bookings_mended",
              "used_memory_mb",
              "used_cpu_cores",
              "nodes_measured",
              "observe_file",
              "rounds",
              "placed_by_core",
              "refused_commits",
              "refused_calls",
              "core_failures",
              "depository_failures",
              "journal_failures",
              "learning_failures",
              "part_failures",
              "parts_out_of_service",
              "preemptions_held_back",
              "raising_forbidden",
              "settings_refused",
              "sharing_failures"));

  @TempDir Path directory;

  @Test
  void theBeanHasEveryCounterAndGoesWithTheScheduler() throws Exception {
    MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    ObjectName bean;
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      bean =
          beans
              .queryNames(new ObjectName("Hadoop:name=ElastaneScheduler*,*"), null)
              .iterator()
              .next();
      Set<String> attributes =
          Arrays.stream(beans.getMBeanInfo(bean).getAttributes())
              .map(MBeanAttributeInfo::getName)
              .collect(Collectors.toSet());
      assertTrue(attributes.containsAll(NAMES), attributes::toString);
      assertTrue(cluster.scheduler().link().guard().inService());
      assertEquals("enforce", beans.getAttribute(bean, "tag.mode"));
      assertEquals("", beans.getAttribute(bean, "tag.out_of_service"));
    }
    assertFalse(beans.isRegistered(bean));
  }

  @Test
  void theCountersCount() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      cluster.launch("default", node);

      // Not through the bean, which caches values for seconds.
      Map<String, Number> values = new HashMap<>();
      MetricsCollectorImpl collector = new MetricsCollectorImpl();
      cluster.metrics().getMetrics(collector, true);
      for (MetricsRecord record : collector.getRecords()) {
        record.metrics().forEach(metric -> values.put(metric.name(), metric.value()));
      }
      assertEquals(NAMES, new TreeSet<>(values.keySet()));
      assertTrue(values.remove("rounds").longValue() >= 1);
      assertEquals(1, values.remove("in_service").intValue());
      assertEquals(1, values.remove("nodes_raised").intValue());
      assertEquals(1, values.remove("placed_by_core").intValue());
      assertEquals(1, values.remove("nodes_measured").intValue());
      assertEquals(4096, values.remove("physical_memory_mb").intValue());
      assertEquals(6144, values.remove("bookable_memory_mb").intValue());
      assertEquals(1024, values.remove("booked_memory_mb").intValue());
      assertEquals(4, values.remove("physical_vcores").intValue());
      assertEquals(6, values.remove("bookable_vcores").intValue());
      assertEquals(1, values.remove("booked_vcores").intValue());
      values.forEach((name, value) -> assertEquals(0, value.intValue(), name));
    }
  }
}
