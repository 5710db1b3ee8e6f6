package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.HashSet;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * Once the core has failed, each heartbeat returns some of the raised nodes to their registered
 * size, and each commit the nodes that it is about to book on. So nothing more is placed above a
 * registered size, and the scheduler's lock is never held for all nodes. A commit does the same
 * while a core is in service and has given up the size of the node.
 */
final class LoweringAtFailure {
  private static final String TASK = "lower";

  private final CoreGuard guard;
  private final BookableCapacity bookable;
  private final Lock lock;
  private final Enforcement enforcement;

  /**
   * @param lock the scheduler's write lock
   */
  LoweringAtFailure(
      CoreGuard guard, BookableCapacity bookable, Lock lock, Enforcement enforcement) {
    this.guard = guard;
    this.bookable = bookable;
    this.lock = lock;
    this.enforcement = enforcement;
  }

  /** Lowers the next of the raised nodes. */
  void some() {
    if (mustLower()) {
      lower(bookable::lowerSome);
    }
  }

  /** Lowers all nodes that can be lowered. Those that cannot are tried once. */
  void all() {
    do {
      some();
    } while (mustLower() && bookable.hasMoreToLower());
  }

  /**
   * Lowers the nodes that this request books on. While a core is in service, those of them whose
   * resize is still to come: many nodes fall silent at once when their reports cannot arrive.
   */
  void before(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    if (mustLower()) {
      lower(() -> bookable.lowerNow(nodesOf(request)));
    } else if (enforcement.wasOn() && bookable.hasMoreToResize()) {
      guard.run("bookable capacity", () -> bookable.followNow(nodesOf(request)));
    }
  }

  private boolean mustLower() {
    return enforcement.wasOn() && !guard.inService() && !bookable.isLowered();
  }

  private void lower(Runnable work) {
    lock.lock();
    try {
      // A new core may be in service since.
      if (!guard.inService()) {
        guard.always(TASK, work);
      }
    } finally {
      lock.unlock();
    }
  }

  private static Collection<NodeId> nodesOf(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    Collection<NodeId> nodes = new HashSet<>();
    for (ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal :
        request.getContainersToAllocate()) {
      nodes.add(proposal.getAllocatedOrReservedContainer().getSchedulerNode().getNodeID());
    }
    return nodes;
  }
}
