package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What was measured of one case: CapacityScheduler, then Elastane, then FairScheduler if at all.
 */
final class SchedulerFigures {
  private static final int CAPACITY = 0;
  private static final int ELASTANE = 1;
  private static final int FAIR = 2;

  private final SchedulerCase measured;
  private final double clockUs = CpuTimes.clockUs();

  /** For each scheduler the mean of each block. */
  private final List<List<Double>> means = new ArrayList<>();

  private final List<double[]> elastanesUpdates = new ArrayList<>();
  private long orderedByCore;
  private int raisedNodes;

  SchedulerFigures(SchedulerCase measured, int sides) {
    this.measured = measured;
    for (int i = 0; i < sides; i++) {
      means.add(new ArrayList<>());
    }
  }

  void add(int side, double[] tookUs) {
    means.get(side).add(CpuTimes.mean(tookUs) - clockUs);
    if (side == ELASTANE) {
      elastanesUpdates.add(tookUs);
    }
  }

  void elastane(long ordered, int raised) {
    orderedByCore = ordered;
    raisedNodes = raised;
  }

  /** The median of the blocks' ratios of Elastane's time to CapacityScheduler's. */
  double ratio() {
    List<Double> stock = means.get(CAPACITY);
    List<Double> ours = means.get(ELASTANE);
    double[] ratios = new double[stock.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = ours.get(i) / stock.get(i);
    }
    return CpuTimes.median(ratios);
  }

  double p99Us() {
    double[] all = elastanesUpdates.stream().flatMapToDouble(Arrays::stream).toArray();
    return CpuTimes.percentile(all, 99) - clockUs;
  }

  private double medianUs(int side) {
    return CpuTimes.median(means.get(side).stream().mapToDouble(Double::doubleValue).toArray());
  }

  private String medianOrDash(int side) {
    return side < means.size() ? String.format(Locale.ROOT, "%.1f", medianUs(side)) : "-";
  }

  String line() {
    return String.format(
        Locale.ROOT,
        "%s capacity_us=%.1f elastane_us=%.1f fair_us=%s"
            + " ratio=%.4f p99_us=%.1f ordered_by_core=%d raised_nodes=%d",
        measured.label(),
        medianUs(CAPACITY),
        medianUs(ELASTANE),
        medianOrDash(FAIR),
        ratio(),
        p99Us(),
        orderedByCore,
        raisedNodes);
  }
}
