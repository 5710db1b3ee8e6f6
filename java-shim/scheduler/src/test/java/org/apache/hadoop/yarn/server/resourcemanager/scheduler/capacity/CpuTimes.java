package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/** CPU times of threads, in microseconds, and their statistics. */
final class CpuTimes {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int CLOCK_READINGS = 200_000;

  private CpuTimes() {}

  /** What reading the clock adds to each time that is taken. */
  static double clockUs() {
    for (int i = 0; i < CLOCK_READINGS; i++) {
      THREADS.getCurrentThreadCpuTime();
    }
    return ofUs(
            () -> {
              for (int i = 0; i < CLOCK_READINGS; i++) {
                THREADS.getCurrentThreadCpuTime();
              }
            })
        / CLOCK_READINGS;
  }

  static double ofUs(Runnable work) {
    long beganNs = THREADS.getCurrentThreadCpuTime();
    work.run();
    return (THREADS.getCurrentThreadCpuTime() - beganNs) / 1e3;
  }

  /** All CPU time of a thread so far. */
  static double ofThreadUs(Thread thread) {
    return THREADS.getThreadCpuTime(thread.getId()) / 1e3;
  }

  static double mean(double[] values) {
    return Arrays.stream(values).average().orElse(Double.NaN);
  }

  static double median(double[] values) {
    return percentile(values, 50);
  }

  static double percentile(double[] values, int percent) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
  }
}
