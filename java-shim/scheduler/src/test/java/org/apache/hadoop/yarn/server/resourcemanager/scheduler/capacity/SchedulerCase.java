package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;

/** One case of {@link SchedulerBenchmark}, and the configuration of a scheduler for it. */
final class SchedulerCase {
  final WaitingCase waits;
  final int pending;
  final int queues;

  /** Whether threads of the scheduler's own place containers, and not heartbeats. */
  final boolean isAsynchronous;

  SchedulerCase(WaitingCase waits, int pending, int queues, boolean isAsynchronous) {
    this.waits = waits;
    this.pending = pending;
    this.queues = queues;
    this.isAsynchronous = isAsynchronous;
  }

  static String queue(int index) {
    return "q" + index;
  }

  String label() {
    return String.format(
        "%s case=%s pending=%d queues=%d",
        isAsynchronous ? "asynchronous" : "node_update", waits.label(), pending, queues);
  }

  /** FairScheduler limits no user's resources, and its own threads are deprecated. */
  boolean isForFairScheduler() {
    return !isAsynchronous && !waits.hasUserLimit();
  }

  Configuration configuration(Class<? extends ResourceScheduler> schedulerClass, Path directory)
      throws IOException {
    String mode = ElastaneScheduler.class.isAssignableFrom(schedulerClass) ? "enforce" : "off";
    Configuration conf = TestCluster.configuration(schedulerClass, mode, directory);
    String[] names = new String[queues];
    for (int i = 0; i < queues; i++) {
      names[i] = queue(i);
    }
    TestCluster.queues(conf, names);
    if (waits.hasUserLimit()) {
      for (String name : names) {
        conf.set("yarn.scheduler.capacity.root." + name + ".user-limit-factor", "0.5");
      }
    }
    // Each master counts as one virtual core, although these masters have no container.
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "100");
    conf.setInt("yarn.scheduler.capacity.maximum-applications", 1_000_000);
    // One container a heartbeat, as is FairScheduler's default.
    conf.setBoolean(
        "yarn.scheduler.capacity.per-node-heartbeat.multiple-assignments-enabled", false);
    conf.setLong("yarn.scheduler.maximum-allocation-mb", SchedulerSide.LARGE_NODE.getMemorySize());
    conf.setInt(
        "yarn.scheduler.maximum-allocation-vcores", SchedulerSide.LARGE_NODE.getVirtualCores());
    // Masters and nodes are not heard of while heartbeats go straight to the scheduler.
    long hourMs = Duration.ofHours(1).toMillis();
    conf.setLong(YarnConfiguration.RM_AM_EXPIRY_INTERVAL_MS, hourMs);
    conf.setLong(YarnConfiguration.RM_NM_EXPIRY_INTERVAL_MS, hourMs);
    conf.setLong(YarnConfiguration.RM_CONTAINER_ALLOC_EXPIRY_INTERVAL_MS, hourMs);
    if (isAsynchronous) {
      String prefix = "yarn.scheduler.capacity.schedule-asynchronously.";
      conf.setBoolean(prefix + "enable", true);
      // The scheduler's threads wait, and the benchmark's thread does their work.
      conf.setLong(prefix + "scheduling-interval-ms", hourMs);
    }
    if (schedulerClass == FairScheduler.class) {
      conf.set("yarn.scheduler.fair.allocation.file", fairAllocations(names, directory).toString());
    }
    return conf;
  }

  private static Path fairAllocations(String[] names, Path directory) throws IOException {
    StringBuilder content =
        new StringBuilder("<allocations><queueMaxAMShareDefault>-1.0</queueMaxAMShareDefault>")
            .append("<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>");
    for (String name : names) {
      content.append("<queue name=\"").append(name).append("\"/>");
    }
    Files.createDirectories(directory);
    Path file = directory.resolve("fair-scheduler.xml");
    Files.write(file, content.append("</allocations>").toString().getBytes(StandardCharsets.UTF_8));
    return file;
  }
}
