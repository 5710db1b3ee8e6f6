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
  double heartbeatsPerSecond;
  double cpuUsOfHeartbeat;
  double cpuUsOfContainer;

  /** The heartbeats after the warm-up, which the figures up to the longest are of. */
  int warmHeartbeats;

  double p99Us;
  double longestMs;
  long overMillisecond;
  long cpuOverMillisecond;

  /** Those of the most CPU time. */
  List<LongHeartbeats.LongHeartbeat> longest = new ArrayList<>();

  double longestFromStartMs;
  int checks;
  double checksSeconds;

  /** Elastane's counters; empty for CapacityScheduler. */
  Map<String, Long> elastane = new TreeMap<>();

  List<String> failures = new ArrayList<>();
}
