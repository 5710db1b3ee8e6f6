package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

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
  private final LongAdder preemptionsHeldBack = new LongAdder();
  private final LongAdder memoryPreemptions = new LongAdder();
  private final LongAdder sharingFailures = new LongAdder();
  private final String mode;
  private volatile BooleanSupplier inService = () -> false;
  private volatile Supplier<NodeSizes> nodeSizes = NodeSizes::new;

  ElastaneMetrics(String mode) {
    this.mode = mode;
  }

  void register(BooleanSupplier coreInService, Supplier<NodeSizes> sizes) {
    inService = coreInService;
    nodeSizes = sizes;
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

  long preemptionHeldBackCount() {
    return preemptionsHeldBack.sum();
  }

  long memoryPreemptionCount() {
    return memoryPreemptions.sum();
  }

  long sharingFailureCount() {
    return sharingFailures.sum();
  }

  @Override
  public void getMetrics(MetricsCollector collector, boolean all) {
    NodeSizes sizes = nodeSizes.get();
    collector
        .addRecord(info(NAME, ABOUT))
        .setContext("yarn")
        .tag(info("mode", "off, observe or enforce"), mode)
        .addGauge(info("in_service", "1 while the core decides"), inService.getAsBoolean() ? 1 : 0)
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
        .addCounter(info("rounds", "times the core was asked for an order"), rounds.sum())
        .addCounter(
            info("placed_by_core", "containers placed by the core's order"), placedByCore.sum())
        .addCounter(info("refused_commits", "commits the core refused"), refusedCommits.sum())
        .addCounter(info("refused_calls", "calls the core refused"), refusedCalls.sum())
        .addCounter(info("core_failures", "failures of the core"), coreFailures.sum())
        .addCounter(
            info("preemptions_held_back", "preemptions held back"), preemptionsHeldBack.sum())
        .addCounter(
            info("memory_preemptions", "containers preempted because a node was short of memory"),
            memoryPreemptions.sum())
        .addCounter(
            info("sharing_failures", "times the depository was not shared"), sharingFailures.sum());
  }
}
