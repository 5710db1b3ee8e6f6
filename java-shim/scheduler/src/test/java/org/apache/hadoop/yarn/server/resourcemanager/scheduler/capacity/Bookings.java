package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The core's bookings beside CapacityScheduler's. */
final class Bookings {
  private Bookings() {}

  /** Lets the reconciliation compare every node, and once more what it suspects. */
  static void reconcile(ElastaneScheduler scheduler) {
    Reconciliation reconciliation = scheduler.link().reconciliation();
    for (int i = 0; i <= 2 * (scheduler.getNumClusterNodes() + 1); i++) {
      scheduler.link().guard().run("reconciliation", reconciliation::checkSome);
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
