package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.lib.MetricsRegistry;
import org.apache.hadoop.metrics2.lib.MutableCounterLong;
import org.apache.hadoop.metrics2.lib.MutableQuantiles;

/**
 * What Elastane counts of the scheduler's work, and beside it the figures of {@link
 * ClusterFigures}. The metrics are {@code ElastaneScheduler} in Hadoop's metrics system.
 */
final class ElastaneMetrics implements MetricsSource {
  static final String NAME = "ElastaneScheduler";
  static final String ABOUT = "Elastane's part in scheduling";
  static final String CONTEXT = "yarn";

  /** Over which percentiles of times are taken. */
  private static final int PERCENTILE_SECONDS = 60;

  private static final MetricsInfo RECORD = info(NAME, ABOUT);

  private final MetricsRegistry registry = new MetricsRegistry(RECORD).setContext(CONTEXT);
  private final MutableCounterLong rounds =
      counter("Rounds", "Times that the core was asked for an order");
  private final MutableCounterLong roundsLeft =
      counter("RoundsLeftToCapacityScheduler", "Rounds in which the core gave no order");
  private final MutableCounterLong namedInVain =
      counter("NamedInVain", "Applications that the core named and CapacityScheduler skipped");
  private final MutableCounterLong placedByCore =
      counter("PlacedByCore", "Containers placed by the core's order");
  private final MutableCounterLong refusedCommits =
      counter("RefusedCommits", "Commits that the core refused");
  private final MutableCounterLong refusedCalls =
      counter("RefusedCalls", "Calls that the core refused as bad input");
  private final MutableCounterLong coreFailures = counter("CoreFailures", "Failures of the core");
  private final MutableCounterLong partFailures =
      counter("PartFailures", "Failures of a part while the core went on");
  private final MutableCounterLong preemptionsHeldBack =
      counter("PreemptionsHeldBack", "CapacityScheduler's preemptions that were dropped");
  private final MutableCounterLong memoryPreemptions =
      counter("MemoryPreemptions", "Containers ended because their node was short of memory");
  private final MutableCounterLong sharingFailures =
      counter("SharingFailures", "Times that the depository was not shared");
  private final MutableCounterLong bookingsMended =
      counter("BookingsMended", "Containers that the core had booked otherwise");
  private final MutableCounterLong settingsRefused =
      counter("SettingsRefused", "Refreshes and failovers whose settings were refused");
  private final MutableQuantiles roundTime = time("Round", "The core's answer to a round");
  private final MutableQuantiles commitTime = time("Commit", "The core's check of a commit");
  private final MutableQuantiles reportTime = time("Report", "The core's answer to a report");
  private volatile Consumer<MetricsRecordBuilder> figures = builder -> {};

  private MutableCounterLong counter(String name, String about) {
    return registry.newCounter(info(name, about), 0L);
  }

  private MutableQuantiles time(String name, String about) {
    return registry.newQuantiles(name, about, "Ops", "Micros", PERCENTILE_SECONDS);
  }

  /**
   * @param asked adds what is asked for whenever the metrics are read
   */
  void register(Consumer<MetricsRecordBuilder> asked) {
    figures = asked;
    MetricsSources.register(NAME, ABOUT, this);
  }

  void unregister() {
    MetricsSources.unregister(NAME, this);
    roundTime.stop();
    commitTime.stop();
    reportTime.stop();
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    MetricsRecordBuilder builder = collector.addRecord(RECORD);
    figures.accept(builder);
    registry.snapshot(builder, true);
  }

  /** The core was asked for a node's applications. */
  void round(long elapsedNs) {
    rounds.incr();
    roundTime.add(micros(elapsedNs));
  }

  /** The core left a node to CapacityScheduler's order. */
  void roundLeft() {
    roundsLeft.incr();
  }

  /** CapacityScheduler skipped applications that the core had named. */
  void namedInVain(int applications) {
    namedInVain.incr(applications);
  }

  /** The core was asked about a commit. */
  void commit(long elapsedNs) {
    commitTime.add(micros(elapsedNs));
  }

  /** An agent's report was answered. */
  void report(long elapsedNs) {
    reportTime.add(micros(elapsedNs));
  }

  /** A container that the core's order led to was committed. */
  void placedByCore() {
    placedByCore.incr();
  }

  /** The core refused a commit. */
  void commitRefused() {
    refusedCommits.incr();
  }

  /** The core refused a call because of its arguments. */
  void callRefused() {
    refusedCalls.incr();
  }

  void coreFailed() {
    coreFailures.incr();
  }

  /** A part failed, or one node could not be resized; the core goes on. */
  void partFailed() {
    partFailures.incr();
  }

  void preemptionHeldBack() {
    preemptionsHeldBack.incr();
  }

  /** A container was preempted because its node was short of memory. */
  void memoryPreemption() {
    memoryPreemptions.incr();
  }

  /** The depository was not published, or a copy was not imported. */
  void sharingFailed() {
    sharingFailures.incr();
  }

  /** The core had booked a container otherwise than CapacityScheduler, and was told. */
  void bookingMended() {
    bookingsMended.incr();
  }

  /** A configuration was read again and refused. */
  void settingsRefused() {
    settingsRefused.incr();
  }

  long placedByCoreCount() {
    return placedByCore.value();
  }

  long roundCount() {
    return rounds.value();
  }

  long namedInVainCount() {
    return namedInVain.value();
  }

  long refusedCommitCount() {
    return refusedCommits.value();
  }

  long refusedCallCount() {
    return refusedCalls.value();
  }

  long coreFailureCount() {
    return coreFailures.value();
  }

  long partFailureCount() {
    return partFailures.value();
  }

  long preemptionHeldBackCount() {
    return preemptionsHeldBack.value();
  }

  long memoryPreemptionCount() {
    return memoryPreemptions.value();
  }

  long sharingFailureCount() {
    return sharingFailures.value();
  }

  long bookingMendedCount() {
    return bookingsMended.value();
  }

  private static long micros(long elapsedNs) {
    return TimeUnit.NANOSECONDS.toMicros(elapsedNs);
  }
}
