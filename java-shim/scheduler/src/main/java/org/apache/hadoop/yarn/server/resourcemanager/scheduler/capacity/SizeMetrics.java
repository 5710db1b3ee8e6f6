package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.nodelabels.CommonNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * The sizes as metrics: a source for each node label, and one for each queue in each of its labels.
 * Sources follow labels and queues that come and go. They are named as CapacityScheduler's {@code
 * PartitionQueueMetrics}.
 */
final class SizeMetrics {
  /** How often queues and labels are looked at. */
  static final long INTERVAL_MS = 5000;

  private static final String LABEL = "ElastanePartitionMetrics";
  private static final String QUEUE = "ElastanePartitionQueueMetrics";
  private static final String ABOUT = "Sizes beside each other";
  private static final MetricsInfo LABEL_RECORD = info(LABEL, ABOUT);
  private static final MetricsInfo QUEUE_RECORD = info(QUEUE, ABOUT);
  private static final MetricsInfo PARTITION_TAG = info("Partition", "Node label");
  private static final MetricsInfo QUEUE_TAG = info("Queue", "Path of the queue");

  private final CapacityScheduler scheduler;
  private final LatestSizes sizes;
  private final Map<String, MetricsSource> registered = new LinkedHashMap<>();
  private boolean closed;

  SizeMetrics(CapacityScheduler scheduler, LatestSizes sizes) {
    this.scheduler = scheduler;
    this.sizes = sizes;
  }

  /**
   * Registers and removes sources. The caller holds no lock of the scheduler: Hadoop's metrics
   * system holds its own while it asks sources, which ask the scheduler.
   */
  synchronized void follow() {
    if (closed) {
      return;
    }
    Map<String, MetricsSource> wanted = wanted();
    for (String name : new ArrayList<>(registered.keySet())) {
      if (!wanted.containsKey(name)) {
        MetricsSources.unregister(name, registered.remove(name));
      }
    }
    wanted.forEach(
        (name, source) -> {
          if (!registered.containsKey(name)) {
            MetricsSources.register(name, ABOUT, source);
            registered.put(name, source);
          }
        });
  }

  /** Removes all sources; none is registered afterwards. */
  synchronized void close() {
    closed = true;
    registered.forEach(MetricsSources::unregister);
    registered.clear();
  }

  private Map<String, MetricsSource> wanted() {
    Map<String, MetricsSource> wanted = new LinkedHashMap<>();
    addLabel(wanted, CommonNodeLabelsManager.NO_LABEL);
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      addLabel(wanted, node.getPartition());
    }
    for (CSQueue queue : scheduler.getCapacitySchedulerQueueManager().getQueues().values()) {
      String path = queue.getQueuePath();
      for (String label : queue.getQueueCapacities().getExistingNodeLabels()) {
        wanted.put(nameOf(path, label), source(path, label));
      }
    }
    return wanted;
  }

  private void addLabel(Map<String, MetricsSource> wanted, String label) {
    wanted.computeIfAbsent(LABEL + ",partition=" + label, name -> source(label));
  }

  private static String nameOf(String queuePath, String label) {
    StringBuilder name = new StringBuilder(QUEUE).append(",partition=").append(label);
    int level = 0;
    for (String part : StringUtils.split(queuePath, '.')) {
      name.append(",q").append(level++).append('=').append(part);
    }
    return name.toString();
  }

  private MetricsSource source(String label) {
    return source(LABEL_RECORD, label, null, () -> sizes.ofLabel(label));
  }

  private MetricsSource source(String queue, String label) {
    return source(QUEUE_RECORD, label, queue, () -> sizes.ofQueue(queue, label));
  }

  private static MetricsSource source(
      MetricsInfo record, String label, String queue, Supplier<JsonNode> entry) {
    return (collector, all) -> {
      MetricsRecordBuilder builder = collector.addRecord(record);
      builder.setContext(ElastaneMetrics.CONTEXT).tag(PARTITION_TAG, label);
      if (queue != null) {
        builder.tag(QUEUE_TAG, queue);
      }
      SizeGauges.add(builder, entry.get());
    };
  }
}
