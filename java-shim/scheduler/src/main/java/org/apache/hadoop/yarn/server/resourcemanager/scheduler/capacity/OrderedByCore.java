package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

/** One of Elastane's ordering policies. */
interface OrderedByCore {
  /** The core's order of the policy's queue. */
  QueueOrder order();
}
