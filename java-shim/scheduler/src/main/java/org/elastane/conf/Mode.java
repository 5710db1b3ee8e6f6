package org.elastane.conf;

/** What Elastane may do in this cluster: the values of {@link ElastaneConfiguration#MODE}. */
public enum Mode {
  /** Nothing: the scheduler is CapacityScheduler, and no core is opened. */
  OFF,
  /** Learn from the agents' reports and change nothing. */
  OBSERVE,
  /** Place, raise bookable capacity and limit. */
  ENFORCE
}
