package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.BooleanSupplier;

/**
 * Whether Elastane's decisions count: in mode {@code enforce}, and for the moment after it in which
 * nodes are still raised, since CapacityScheduler alone would fill them above their registered
 * size.
 */
final class Enforcement {
  private final BooleanSupplier anyRaised;
  private volatile boolean isWanted;
  private volatile boolean wasWanted;

  /**
   * @param anyRaised whether a node is raised, or still to be resized
   */
  Enforcement(BooleanSupplier anyRaised) {
    this.anyRaised = anyRaised;
  }

  void want(boolean wanted) {
    wasWanted |= wanted;
    isWanted = wanted;
  }

  boolean isOn() {
    return isWanted || (wasWanted && anyRaised.getAsBoolean());
  }

  /** Whether it was ever on: containers may be booked above registered sizes. */
  boolean wasOn() {
    return wasWanted;
  }
}
