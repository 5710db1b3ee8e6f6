package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.hadoop.metrics2.MetricsCollector;
import org.apache.hadoop.metrics2.MetricsSource;
import org.apache.hadoop.metrics2.MetricsSystem;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** The scheduler's counters, on the ResourceManager's /jmx as {@code ElastaneScheduler}. */
final class ElastaneMetrics implements MetricsSource {
  static final String NAME = "ElastaneScheduler";
  private static final String ABOUT = "Elastane's part in scheduling";

  private final LongAdder rounds = new LongAdder();
  private final LongAdder placedByCore = new LongAdder();
  private final LongAdder refusedCommits = new LongAdder();
  private final LongAdder refusedCalls = new LongAdder();
  private final LongAdder coreFailures = new LongAdder();
  private final LongAdder partFailures = new LongAdder();
  private final LongAdder preemptionsHeldBack = new LongAdder();
  private final LongAdder memoryPreemptions = new LongAdder();
  private final LongAdder sharingFailures = new LongAdder();
  private final LongAdder bookingsMended = new LongAdder();
  private final LongAdder settingsRefused = new LongAdder();
  private volatile BooleanSupplier inService = () -> false;
  private volatile Supplier<NodeSizes> nodeSizes = NodeSizes::new;
  private volatile Supplier<MeasuredUse> measuredUse = MeasuredUse::new;
  private volatile Parts parts;
  private volatile LiveSettings settings;
  private volatile BooleanSupplier raisingForbidden = () -> false;

  void register(
      BooleanSupplier coreInService,
      Supplier<NodeSizes> sizes,
      Supplier<MeasuredUse> use,
      BooleanSupplier noNodeMayBeRaised,
      Parts elastanesParts,
      LiveSettings liveSettings) {
    inService = coreInService;
    nodeSizes = sizes;
    measuredUse = use;
    raisingForbidden = noNodeMayBeRaised;
    parts = elastanesParts;
    settings = liveSettings;
    MetricsSystem system = DefaultMetricsSystem.instance();
    // With high availability, one JVM makes several schedulers one after the other.
    system.unregisterSource(NAME);
    system.register(NAME, ABOUT, this);
  }

  void unregister() {
    DefaultMetricsSystem.instance().unregisterSource(NAME);
  }

  /** The core was asked for a node's applications. */
  void round() {
    rounds.increment();
  }

  /** A container that the core's order led to was committed. */
  void placedByCore() {
    placedByCore.increment();
  }

  /** The core refused a commit. */
  void commitRefused() {
    refusedCommits.increment();
  }

  /** The core refused a call because of its arguments. */
  void callRefused() {
    refusedCalls.increment();
  }

  void coreFailed() {
    coreFailures.increment();
  }

  /** A part failed, or one node could not be resized; the core goes on. */
  void partFailed() {
    partFailures.increment();
  }

  void preemptionHeldBack() {
    preemptionsHeldBack.increment();
  }

  /** A container was preempted because its node was short of memory. */
  void memoryPreemption() {
    memoryPreemptions.increment();
  }

  /** The depository was not published, or a copy was not imported. */
  void sharingFailed() {
    sharingFailures.increment();
  }

  /** The core had booked a container otherwise than CapacityScheduler, and was told. */
  void bookingMended() {
    bookingsMended.increment();
  }

  /** A configuration was read again and refused. */
  void settingsRefused() {
    settingsRefused.increment();
  }

  /** 1 if no node may be raised above its registered size. */
  int raisingForbidden() {
    return raisingForbidden.getAsBoolean() ? 1 : 0;
  }

  long placedByCoreCount() {
    return placedByCore.sum();
  }

  long roundCount() {
    return rounds.sum();
  }

  long refusedCommitCount() {
    return refusedCommits.sum();
  }

  long refusedCallCount() {
    return refusedCalls.sum();
  }

  long coreFailureCount() {
    return coreFailures.sum();
  }

  long partFailureCount() {
    return partFailures.sum();
  }

  long preemptionHeldBackCount() {
    return preemptionsHeldBack.sum();
  }

  long memoryPreemptionCount() {
    return memoryPreemptions.sum();
  }

  long sharingFailureCount() {
    return sharingFailures.sum();
  }

  long bookingMendedCount() {
    return bookingsMended.sum();
  }

  private String mode() {
    return settings == null ? "observe" : settings.modeName();
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    NodeSizes sizes = nodeSizes.get();
    MeasuredUse used = measuredUse.get();
    List<String> outOfService = parts == null ? Collections.emptyList() : parts.outOfService();
    collector
        .addRecord(info(NAME, ABOUT))
        .setContext("yarn")
        .tag(info("mode", "the mode in force: observe or enforce"), mode())
        .tag(info("out_of_service", "parts that failed alone"), String.join(", ", outOfService))
        .addGauge(info("in_service", "1 while the core decides"), inService.getAsBoolean() ? 1 : 0)
        .addGauge(
            info("observe_file", "1 while the observe file exists"),
            settings != null && settings.isObserveFileThere() ? 1 : 0)
        .addGauge(info("parts_out_of_service", "how many parts failed alone"), outOfService.size())
        .addGauge(info("nodes_raised", "nodes larger than registered"), sizes.raised())
        .addGauge(
            info("physical_memory_mb", "registered memory of all nodes"),
            sizes.physical().getMemorySize())
        .addGauge(
            info("bookable_memory_mb", "memory that CapacityScheduler may book"),
            sizes.bookable().getMemorySize())
        .addGauge(
            info("booked_memory_mb", "memory of all containers, as requested"),
            sizes.booked().getMemorySize())
        .addGauge(
            info("physical_vcores", "registered virtual cores of all nodes"),
            sizes.physical().getVirtualCores())
        .addGauge(
            info("bookable_vcores", "virtual cores that CapacityScheduler may book"),
            sizes.bookable().getVirtualCores())
        .addGauge(
            info("booked_vcores", "virtual cores of all containers, as requested"),
            sizes.booked().getVirtualCores())
        .addGauge(
            info("used_memory_mb", "memory that containers use, as agents measure it"),
            used.memoryMb())
        .addGauge(
            info("used_cpu_cores", "CPU cores that containers use, as agents measure it"),
            used.cpuCores())
        .addGauge(info("nodes_measured", "nodes whose agent has reported"), used.reports())
        .addGauge(
            info("raising_forbidden", "1 while a setting or a queue forbids raised nodes"),
            raisingForbidden())
        .addCounter(info("rounds", "times the core was asked for an order"), rounds.sum())
        .addCounter(
            info("placed_by_core", "containers placed by the core's order"), placedByCore.sum())
        .addCounter(info("refused_commits", "commits the core refused"), refusedCommits.sum())
        .addCounter(info("refused_calls", "calls the core refused"), refusedCalls.sum())
        .addCounter(info("core_failures", "failures of the core"), coreFailures.sum())
        .addCounter(
            info("part_failures", "failures of a part, while the core went on"), partFailures.sum())
        .addCounter(
            info("depository_failures", "times the depository could not be opened"),
            parts == null ? 0 : parts.depositoryFailures())
        .addCounter(
            info("journal_failures", "times the journal could not be opened or written"),
            parts == null ? 0 : parts.journalFailures())
        .addCounter(
            info("learning_failures", "steps of learning that panicked"),
            parts == null ? 0 : parts.learningFailures())
        .addCounter(
            info("preemptions_held_back", "preemptions held back"), preemptionsHeldBack.sum())
        .addCounter(
            info("memory_preemptions", "containers preempted because a node was short of memory"),
            memoryPreemptions.sum())
        .addCounter(
            info("sharing_failures", "times the depository was not shared"), sharingFailures.sum())
        .addCounter(
            info("bookings_mended", "containers the core had booked otherwise"),
            bookingsMended.sum())
        .addCounter(
            info("settings_refused", "refreshes refused because of a setting"),
            settingsRefused.sum());
  }
}
