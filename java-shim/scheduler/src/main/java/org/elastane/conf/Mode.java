package org.elastane.conf;

/** How far Elastane may go in this cluster: the values of {@link ElastaneConfiguration#MODE}. */
public enum Mode {
  /** The scheduler is CapacityScheduler, and no core is opened. */
  OFF,
  /** Learns from the agents' reports and changes nothing. */
  OBSERVE,
  /** As {@link #OBSERVE}; the core also keeps the record that its advice is worked out from. */
  ADVISE,
  /** Places containers, raises bookable capacity and sets limits. */
  ENFORCE
}
