package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;

/**
 * Times each NODE_UPDATE of a scheduler and counts what the scheduler places.
 *
 * <p>The thread that handles the scheduler's events also runs the checks, between two events: then
 * no container begins or ends.
 */
final class LoadMeasure {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long NS_PER_MS = 1_000_000;
  private static final long CHECK_INTERVAL_NS = TimeUnit.SECONDS.toNanos(5);

  /** The share of the containers whose heartbeats warm the JVM up, for the longest and the p99. */
  private static final int WARM_UP_SHARE = 5;

  private final int expectedContainers;
  private final List<String> failures = new ArrayList<>();
  private long[] tookNs = new long[1 << 16];
  private int warmHeartbeats;
  private long heartbeats;
  private long firstHeartbeatNs;
  private long lastHeartbeatNs;
  private long heartbeatCpuNs;
  private final LongHeartbeats longest = new LongHeartbeats();
  private long cpuOverMillisecond;
  private long longestFromStartNs;
  private int placed;
  private long firstPlacedNs;
  private long lastPlacedNs;
  private int begunAttempts;
  private int endedAttempts;
  private long nextCheckNs = System.nanoTime() + CHECK_INTERVAL_NS;
  private long checksNs;
  private long checksBeforeFirstPlacedNs;
  private long checksBeforeLastPlacedNs;
  private int checks;
  private boolean finalCheckWanted;

  /**
   * @param expectedContainers all that will be placed, ApplicationMasters included
   */
  LoadMeasure(int expectedContainers) {
    this.expectedContainers = expectedContainers;
  }

  /** Handles an event by {@code handler}; {@code check} throws what is wrong. */
  void handle(SchedulerEvent event, Consumer<SchedulerEvent> handler, Runnable check) {
    if (event.getType() != SchedulerEventType.NODE_UPDATE) {
      handler.accept(event);
      count(event.getType());
      return;
    }
    if (isCheckDue()) {
      check(check);
    }
    int placedBefore = placed();
    long cpuBeganNs = THREADS.getCurrentThreadCpuTime();
    long beganNs = System.nanoTime();
    handler.accept(event);
    long endedNs = System.nanoTime();
    heartbeat(endedNs - beganNs, THREADS.getCurrentThreadCpuTime() - cpuBeganNs, placedBefore);
  }

  private synchronized int placed() {
    return placed;
  }

  private synchronized void count(SchedulerEventType type) {
    if (type == SchedulerEventType.APP_ATTEMPT_ADDED) {
      begunAttempts++;
    } else if (type == SchedulerEventType.APP_ATTEMPT_REMOVED) {
      endedAttempts++;
    }
  }

  private synchronized boolean isCheckDue() {
    return finalCheckWanted || System.nanoTime() - nextCheckNs >= 0;
  }

  private void check(Runnable check) {
    long beganNs = System.nanoTime();
    String failure = null;
    try {
      check.run();
    } catch (RuntimeException | AssertionError e) {
      failure = e.toString();
    }
    synchronized (this) {
      if (failure != null) {
        failures.add(failure);
      }
      checks++;
      checksNs += System.nanoTime() - beganNs;
      nextCheckNs = System.nanoTime() + CHECK_INTERVAL_NS;
      finalCheckWanted = false;
      notifyAll();
    }
  }

  private synchronized void heartbeat(long wallNs, long cpuNs, int placedBefore) {
    lastHeartbeatNs = System.nanoTime();
    if (heartbeats++ == 0) {
      firstHeartbeatNs = lastHeartbeatNs;
    }
    heartbeatCpuNs += cpuNs;
    longestFromStartNs = Math.max(longestFromStartNs, wallNs);
    if (placed * WARM_UP_SHARE < expectedContainers) {
      return;
    }
    longest.add(wallNs, cpuNs, placed - placedBefore);
    if (cpuNs > NS_PER_MS) {
      cpuOverMillisecond++;
    }
    if (warmHeartbeats == tookNs.length) {
      tookNs = Arrays.copyOf(tookNs, 2 * tookNs.length);
    }
    tookNs[warmHeartbeats++] = wallNs;
  }

  /** Counts the containers of a commit that succeeded. */
  boolean committed(ResourceCommitRequest<?, ?> request, boolean succeeded) {
    if (succeeded && request != null) {
      committed(request.getContainersToAllocate().size());
    }
    return succeeded;
  }

  private synchronized void committed(int containers) {
    if (containers > 0) {
      lastPlacedNs = System.nanoTime();
      checksBeforeLastPlacedNs = checksNs;
      if (placed == 0) {
        firstPlacedNs = lastPlacedNs;
        checksBeforeFirstPlacedNs = checksNs;
      }
      placed += containers;
    }
  }

  synchronized void failed(String failure) {
    failures.add(failure);
  }

  /** Waits for one more check by the thread that handles events. */
  synchronized void checkOnceMore(long timeoutMs) throws InterruptedException {
    finalCheckWanted = true;
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    while (finalCheckWanted) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
      if (leftMs <= 0) {
        failures.add("no heartbeat came for the last check");
        return;
      }
      wait(leftMs);
    }
  }

  synchronized boolean isDone(int applications) {
    return placed >= expectedContainers && endedAttempts >= applications;
  }

  synchronized String progress() {
    return String.format(
        "%d heartbeats, %d of %d containers placed, %d applications begun, %d ended, %d checks",
        heartbeats, placed, expectedContainers, begunAttempts, endedAttempts, checks);
  }

  synchronized LoadFigures figures() {
    long[] warm = Arrays.copyOf(tookNs, warmHeartbeats);
    Arrays.sort(warm);
    LoadFigures figures = new LoadFigures();
    // CapacityScheduler and the core stand still during a check.
    long checksWhilePlacingNs = checksBeforeLastPlacedNs - checksBeforeFirstPlacedNs;
    long placingNs = lastPlacedNs - firstPlacedNs - checksWhilePlacingNs;
    figures.containersPerSecond = placingNs > 0 ? placed * 1e9 / placingNs : 0;
    figures.containers = placed;
    figures.heartbeatsPerSecond =
        heartbeats < 2 ? 0 : (heartbeats - 1) * 1e9 / (lastHeartbeatNs - firstHeartbeatNs);
    figures.cpuUsOfHeartbeat = heartbeats == 0 ? 0 : heartbeatCpuNs / 1e3 / heartbeats;
    figures.cpuUsOfContainer = placed == 0 ? 0 : heartbeatCpuNs / 1e3 / placed;
    figures.warmHeartbeats = warm.length;
    figures.p99Us = warm.length == 0 ? 0 : warm[(int) (warm.length * 99L / 100)] / 1e3;
    figures.longestMs = warm.length == 0 ? 0 : warm[warm.length - 1] / 1e6;
    figures.longest = longest.sorted();
    figures.cpuOverMillisecond = cpuOverMillisecond;
    figures.longestFromStartMs = longestFromStartNs / 1e6;
    figures.overMillisecond = Arrays.stream(warm).filter(ns -> ns > NS_PER_MS).count();
    figures.checks = checks;
    figures.checksSeconds = checksNs / 1e9;
    figures.failures = new ArrayList<>(failures);
    return figures;
  }
}
