package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Which queues the core orders, and whether nodes may be raised beside those that it does not. */
final class OrderedQueues {
  private static final Logger LOG = LoggerFactory.getLogger(OrderedQueues.class);
  private static final String MULTI_NODE =
      "yarn.scheduler.capacity.multi-node-placement-enabled is true, so CapacityScheduler alone"
          + " chooses applications and nodes";

  private final LeafQueuePolicies policies;
  private final Enforcement enforcement;
  private final boolean multiNode;
  private final AtomicBoolean multiNodeLogged = new AtomicBoolean();

  /**
   * @param multiNode whether CapacityScheduler places an application on one of many nodes, instead
   *     of offering one node to many applications
   */
  OrderedQueues(LeafQueuePolicies policies, Enforcement enforcement, boolean multiNode) {
    this.policies = policies;
    this.enforcement = enforcement;
    this.multiNode = multiNode;
  }

  /** Whether the core orders the applications for a node. */
  boolean byNode() {
    return enforcement.isOn() && !multiNode;
  }

  /** Whether the attempt's queue has one of Elastane's ordering policies. */
  boolean hasOurPolicy(FiCaSchedulerApp attempt) {
    CSQueue queue = (CSQueue) attempt.getQueue();
    return policies.isOurs(queue.getQueuePath());
  }

  /** Whether the core's order is the one in which the attempt's queue is served. */
  boolean orders(FiCaSchedulerApp attempt) {
    return byNode() && hasOurPolicy(attempt);
  }

  /** Also before Elastane's order is there, when the core enforces a moment earlier. */
  boolean forbidsRaising() {
    return !enforcement.isOn() || raisingForbidden() != null;
  }

  /**
   * Why no node may be raised above its registered size; null if nodes may be raised. On a raised
   * node only the core's order keeps CapacityScheduler from proposing what the core has to refuse,
   * and a refusal costs all queues the heartbeat.
   */
  String raisingForbidden() {
    if (!enforcement.isOn()) {
      return null;
    }
    return multiNode ? MULTI_NODE : policies.foreignQueue();
  }

  /**
   * Installs Elastane's order on each leaf queue while its decisions count. The caller holds the
   * scheduler's write lock, and CapacityScheduler may have given each queue a policy of its own.
   */
  void install(Collection<CSQueue> queues) {
    if (!enforcement.isOn()) {
      policies.forget();
      return;
    }
    policies.install(queues);
    if (multiNode && multiNodeLogged.compareAndSet(false, true)) {
      LOG.warn("{}; no node is raised above its registered size", MULTI_NODE);
    }
  }
}
