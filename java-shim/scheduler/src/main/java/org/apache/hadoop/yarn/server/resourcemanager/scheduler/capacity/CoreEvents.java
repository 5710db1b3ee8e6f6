package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Map;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeRemovedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeResourceUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ReleaseContainerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;

/** Tells the core of the scheduler's events: nodes and applications come, change and go. */
final class CoreEvents {
  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final CoreContainers containers;
  private final BookableCapacity bookable;
  private final PreemptionHold preemptionHold;
  private final CoreQueues queues;
  private final LabelEvents labelEvents;
  private final CapacityPreemption preemption;
  private final LeafQueuePolicies policies;
  private final Enforcement enforcement;

  CoreEvents(
      ElastaneScheduler scheduler,
      CoreGuard guard,
      CoreNodes nodes,
      CoreApplications applications,
      CoreContainers containers,
      BookableCapacity bookable,
      PreemptionHold preemptionHold,
      CoreQueues queues,
      LabelEvents labelEvents,
      CapacityPreemption preemption,
      LeafQueuePolicies policies,
      Enforcement enforcement) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.nodes = nodes;
    this.applications = applications;
    this.containers = containers;
    this.bookable = bookable;
    this.preemptionHold = preemptionHold;
    this.queues = queues;
    this.labelEvents = labelEvents;
    this.preemption = preemption;
    this.policies = policies;
    this.enforcement = enforcement;
  }

  /** The event that CapacityScheduler is to handle; null if it is held back. */
  SchedulerEvent before(SchedulerEvent event) {
    switch (event.getType()) {
      case NODE_RESOURCE_UPDATE:
        return bookable.withoutIdleTimeOut((NodeResourceUpdateSchedulerEvent) event);
      case NODE_LABELS_UPDATE:
        return labelEvents.holdsBack((NodeLabelsUpdateSchedulerEvent) event) ? null : event;
      case MARK_CONTAINER_FOR_PREEMPTION:
      case MARK_CONTAINER_FOR_KILLABLE:
        RMContainer container = ((ContainerPreemptEvent) event).getContainer();
        FiCaSchedulerApp attempt =
            scheduler.getApplicationAttempt(container.getApplicationAttemptId());
        FiCaSchedulerNode node = scheduler.getNode(container.getAllocatedNode());
        return preemptionHold.holdsBack(attempt, node) ? null : event;
      default:
        return event;
    }
  }

  /** CapacityScheduler has handled the event. */
  void after(SchedulerEvent event) {
    switch (event.getType()) {
      case NODE_ADDED:
        guard.run(
            "node added", () -> nodeAdded(((NodeAddedSchedulerEvent) event).getAddedRMNode()));
        break;
      case NODE_REMOVED:
        RMNode removed = ((NodeRemovedSchedulerEvent) event).getRemovedRMNode();
        guard.run("node removed", () -> nodeRemoved(removed.getNodeID()));
        break;
      case NODE_RESOURCE_UPDATE:
        nodeResized((NodeResourceUpdateSchedulerEvent) event);
        break;
      case NODE_LABELS_UPDATE:
        Set<NodeId> labelled =
            ((NodeLabelsUpdateSchedulerEvent) event).getUpdatedNodeToLabels().keySet();
        guard.run("node labels", () -> nodesLabelled(labelled));
        break;
      case MARK_CONTAINER_FOR_PREEMPTION:
        preemption.told(((ContainerPreemptEvent) event).getContainer());
        break;
      case MARK_CONTAINER_FOR_NONKILLABLE:
        preemption.spared(((ContainerPreemptEvent) event).getContainer());
        break;
      case RELEASE_CONTAINER:
        // A promotion's temporary container ends as an opportunistic one, without the usual hook.
        RMContainer released = ((ReleaseContainerEvent) event).getContainer();
        guard.run("container completed", () -> containers.finished(released));
        break;
      case APP_ADDED:
        ApplicationId added = ((AppAddedSchedulerEvent) event).getApplicationId();
        guard.run("application added", () -> applicationAdded(added));
        break;
      case APP_REMOVED:
        ApplicationId ended = ((AppRemovedSchedulerEvent) event).getApplicationID();
        guard.run("application removed", () -> applications.removed(ended, rmApp(ended)));
        break;
      default:
        // Hadoop 3.3 has no such event.
        if (event.getType().name().equals("AUTO_QUEUE_DELETION")) {
          guard.run("queue removed", this::queueRemoved);
        }
        break;
    }
  }

  private void queueRemoved() {
    policies.retain(scheduler.getCapacitySchedulerQueueManager().getQueues().values());
    queues.tell();
  }

  /** The path of the queue that an application is in, or null. */
  String queuePathOf(ApplicationId application) {
    CSQueue queue = queueOf(application);
    return queue == null ? null : queue.getQueuePath();
  }

  void nodeAdded(RMNode node) {
    FiCaSchedulerNode schedulerNode = scheduler.getNode(node.getNodeID());
    if (schedulerNode != null) {
      NodeRecord record = nodes.added(node, schedulerNode.getPartition());
      containers.recovered(record, schedulerNode);
      bookable.nodesChanged();
    }
  }

  private void nodeRemoved(NodeId node) {
    nodes.removed(node);
    bookable.nodesChanged();
  }

  private void nodesLabelled(Set<NodeId> labelled) {
    labelled.forEach(this::nodeLabelled);
    // A label may be new, and exclusive or not.
    queues.tell();
  }

  private void nodeLabelled(NodeId node) {
    NodeRecord record = nodes.find(node);
    FiCaSchedulerNode schedulerNode = scheduler.getNode(node);
    if (record != null && schedulerNode != null) {
      nodes.labelled(record, schedulerNode.getPartition());
    }
  }

  private void nodeResized(NodeResourceUpdateSchedulerEvent event) {
    NodeRecord record = nodes.find(event.getRMNode().getNodeID());
    if (record == null || event.getRMNode().getState() != NodeState.RUNNING) {
      return;
    }
    guard.always(
        "registered size changed",
        () -> bookable.registeredSizeChanged(record, event.getResourceOption().getResource()));
    guard.run("node resized", () -> nodes.resized(record));
  }

  void applicationAdded(ApplicationId application) {
    CSQueue queue = queueOf(application);
    RMApp rmApp = rmApp(application);
    if (queue == null || rmApp == null) {
      // CapacityScheduler has rejected it, or a test made it without a ResourceManager.
      return;
    }
    if (enforcement.isOn()) {
      scheduler.schedulerLock().lock();
      try {
        policies.install(queue);
      } finally {
        scheduler.schedulerLock().unlock();
      }
    }
    queues.tellIfNew(queue);
    applications.added(application, rmApp, queue.getQueuePath());
  }

  private CSQueue queueOf(ApplicationId application) {
    SchedulerApplication<FiCaSchedulerApp> added =
        scheduler.getSchedulerApplications().get(application);
    return added == null ? null : (CSQueue) added.getQueue();
  }

  private RMApp rmApp(ApplicationId application) {
    Map<ApplicationId, RMApp> all = scheduler.getRMContext().getRMApps();
    return all == null ? null : all.get(application);
  }
}
