package org.elastane.conf;

/**
 * In which order a queue's applications are offered a node that they fit: the values of {@link
 * ElastaneConfiguration#PLACEMENT_ORDER}.
 */
public enum PlacementOrder {
  /** The core's. */
  ELASTANE,
  /** That of the queue's ordering policy. */
  QUEUE
}
