package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.util.MonotonicClock;
import org.apache.hadoop.yarn.util.SystemClock;

/** What people and metrics are shown. Nothing decides by it. */
final class Shown {
  private final CoreStatus status;
  private final CoreAnswers answers;
  private final LatestSizes sizes;
  private final SizeHistory history;
  private final ListedLimits listedLimits;

  /**
   * @param part which is out of service while the core gives no status or answer
   */
  Shown(CapacityScheduler scheduler, CoreGuard guard, Part part, CoreHandle core) {
    status = new CoreStatus(guard, part, core, new MonotonicClock());
    answers = new CoreAnswers(guard, part, core, new MonotonicClock());
    sizes =
        new LatestSizes(
            () -> new SizesJson(scheduler, status.snapshot()).sizes(), new MonotonicClock());
    history = new SizeHistory(sizes::all, SystemClock.getInstance());
    listedLimits = new ListedLimits(scheduler, new MonotonicClock());
  }

  CoreStatus status() {
    return status;
  }

  CoreAnswers answers() {
    return answers;
  }

  LatestSizes sizes() {
    return sizes;
  }

  SizeHistory history() {
    return history;
  }

  ListedLimits listedLimits() {
    return listedLimits;
  }
}
