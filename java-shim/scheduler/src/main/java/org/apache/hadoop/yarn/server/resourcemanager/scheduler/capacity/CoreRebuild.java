package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** Tells a new core everything that the scheduler has, and puts the core in service. */
final class CoreRebuild {
  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreHandle core;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final CoreEvents events;
  private final CoreQueues queueShares;
  private final BookableCapacity bookable;
  private final LeafQueuePolicies policies;
  private final OrderedQueues ordered;

  CoreRebuild(
      ElastaneScheduler scheduler,
      CoreGuard guard,
      CoreHandle core,
      CoreNodes nodes,
      CoreApplications applications,
      CoreEvents events,
      CoreQueues queueShares,
      BookableCapacity bookable,
      LeafQueuePolicies policies,
      OrderedQueues ordered) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.core = core;
    this.nodes = nodes;
    this.applications = applications;
    this.events = events;
    this.queueShares = queueShares;
    this.bookable = bookable;
    this.policies = policies;
    this.ordered = ordered;
  }

  /**
   * Opens a new core in the place of one that is out of service. No other thread uses the core
   * meanwhile.
   *
   * @throws RuntimeException if the core cannot be opened or refuses something
   */
  void openAnew() {
    guard.awaitIdle();
    core.reopen();
    Set<ContainerId> told = new HashSet<>();
    // Nodes, applications and commits change under this lock only.
    scheduler.schedulerLock().lock();
    try {
      applications.coreIsNew();
      nodes.coreIsNew();
      // The queues' policies decide whether a node may be raised, which the queues tell.
      ordered.install(queues());
      queueShares.tell();
      tellApplications();
      tellNodes(told);
      tellSchedulable();
      tellPending();
      applications.forgetOutdated();
      nodes.forgetOutdated();
      bookable.coreIsNew();
      guard.putInService();
    } finally {
      scheduler.schedulerLock().unlock();
    }
    // An ApplicationMaster asks for containers and releases them without that lock.
    forgetEnded(told);
    guard.run("pending", this::tellPending);
  }

  private void tellApplications() {
    for (ApplicationId application : scheduler.getSchedulerApplications().keySet()) {
      events.applicationAdded(application);
    }
  }

  private void tellNodes(Set<ContainerId> told) {
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      for (RMContainer running : node.getCopiedListOfRunningContainers()) {
        told.add(running.getContainerId());
      }
      events.nodeAdded(node.getRMNode());
    }
  }

  private void tellSchedulable() {
    policies.forEachSchedulable(queues(), applications::entered);
  }

  /** Tells what each application waits for, if the core does not know that yet. */
  private void tellPending() {
    for (SchedulerApplication<FiCaSchedulerApp> application :
        scheduler.getSchedulerApplications().values()) {
      FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
      if (attempt != null) {
        CSQueue queue = (CSQueue) attempt.getQueue();
        applications.pendingChanged(attempt, policies.isOurs(queue.getQueuePath()));
      }
    }
  }

  private void forgetEnded(Set<ContainerId> told) {
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      for (RMContainer running : node.getCopiedListOfRunningContainers()) {
        if (!CoreContainers.hasEnded(running)) {
          told.remove(running.getContainerId());
        }
      }
    }
    for (ContainerId ended : told) {
      guard.run("container completed", () -> core.finished(ended));
    }
  }

  private Collection<CSQueue> queues() {
    return scheduler.getCapacitySchedulerQueueManager().getQueues().values();
  }
}
