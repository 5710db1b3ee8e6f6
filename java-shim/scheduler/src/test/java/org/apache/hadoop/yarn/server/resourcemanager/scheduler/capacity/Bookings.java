package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The core's bookings beside CapacityScheduler's. */
final class Bookings {
  /** A node may be suspected again while it is compared for the second time. */
  private static final int MOST_WAITS = 3;

  private Bookings() {}

  /** Lets the reconciliation compare every node, and a second later once more if any differs. */
  static void reconcile(ElastaneScheduler scheduler) {
    Reconciliation reconciliation = scheduler.link().reconciliation();
    scheduler.link().guard().run("reconciliation", reconciliation::checkAll);
    for (int i = 0; i < MOST_WAITS && reconciliation.isAnySuspected(); i++) {
      try {
        Thread.sleep(Reconciliation.APART_MS);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      scheduler.link().guard().run("reconciliation", reconciliation::checkAll);
    }
  }

  /** While a core is in service, it has booked what CapacityScheduler has. */
  static void assertEqual(ElastaneScheduler scheduler) {
    if (scheduler.link() != null && scheduler.link().guard().inService()) {
      reconcile(scheduler);
      assertEquals(
          0,
          scheduler.link().metrics().bookingMendedCount(),
          "bookings that the core had otherwise");
    }
  }
}
