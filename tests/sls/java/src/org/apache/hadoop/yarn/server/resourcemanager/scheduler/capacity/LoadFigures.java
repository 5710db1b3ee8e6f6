package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What one scheduler did under the load, as JSON for {@code tests/sls}. */
@JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.ANY)
final class LoadFigures {
  double containersPerSecond;
  int containers;
  long heartbeats;
  double cpuUsOfHeartbeat;
  double cpuUsOfContainer;

  /** The heartbeats after the warm-up, which the next five figures are of. */
  int warmHeartbeats;

  double p99Us;
  double longestMs;
  double longestCpuMs;
  long overMillisecond;

  double longestFromStartMs;
  int checks;
  double checksSeconds;

  /** Elastane's counters; empty for CapacityScheduler. */
  Map<String, Long> elastane = new TreeMap<>();

  List<String> failures = new ArrayList<>();
}
