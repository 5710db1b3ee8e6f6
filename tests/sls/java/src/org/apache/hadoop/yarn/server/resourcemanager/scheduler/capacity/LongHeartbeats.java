package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** The heartbeats that took the most CPU time. */
final class LongHeartbeats {
  private static final int KEPT = 10;
  private static final Comparator<LongHeartbeat> BY_CPU =
      Comparator.comparingDouble(heartbeat -> heartbeat.cpuMs);

  private final long beganNs = System.nanoTime();
  private final PriorityQueue<LongHeartbeat> longest = new PriorityQueue<>(BY_CPU);

  void add(long wallNs, long cpuNs, int placed) {
    if (longest.size() == KEPT) {
      if (cpuNs / 1e6 <= longest.peek().cpuMs) {
        return;
      }
      longest.remove();
    }
    LongHeartbeat heartbeat = new LongHeartbeat();
    heartbeat.atSeconds = (System.nanoTime() - beganNs) / 1e9;
    heartbeat.wallMs = wallNs / 1e6;
    heartbeat.cpuMs = cpuNs / 1e6;
    heartbeat.placed = placed;
    longest.add(heartbeat);
  }

  /** The longest first. */
  List<LongHeartbeat> sorted() {
    List<LongHeartbeat> sorted = new ArrayList<>(longest);
    sorted.sort(BY_CPU.reversed());
    return sorted;
  }

  /** One NODE_UPDATE. */
  @JsonAutoDetect(fieldVisibility = JsonAutoDetect.Visibility.ANY)
  static final class LongHeartbeat {
    double atSeconds;
    double wallMs;
    double cpuMs;
    int placed;
  }
}
