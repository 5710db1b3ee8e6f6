package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;

/**
 * What an ApplicationMaster's call changes: its asks, and containers that it resizes, promotes or
 * demotes. CapacityScheduler places a temporary container for what a container grows by, and ends
 * it when the ApplicationMaster has the update; the core sees that one as any other.
 */
final class CoreAllocations {
  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreContainers containers;
  private final Headroom headroom;
  private final Consumer<FiCaSchedulerApp> pendingChanged;

  CoreAllocations(
      ElastaneScheduler scheduler,
      CoreGuard guard,
      CoreContainers containers,
      Headroom headroom,
      Consumer<FiCaSchedulerApp> pendingChanged) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.containers = containers;
    this.headroom = headroom;
    this.pendingChanged = pendingChanged;
  }

  /** An ApplicationMaster's call, or the ResourceManager's for an ApplicationMaster. */
  void allocated(
      ApplicationAttemptId attemptId,
      List<ResourceRequest> asks,
      List<SchedulingRequest> schedulingRequests,
      ContainerUpdates updates,
      Allocation allocation) {
    if (PendingAsks.mayChange(asks, schedulingRequests, updates)) {
      pendingChanged.accept(scheduler.getApplicationAttempt(attemptId));
    }
    if (scheduler.link().largestRegistered() != null) {
      guard.run("headroom", () -> headroom.limit(attemptId.getApplicationId(), allocation));
    }
    guard.run("container updated", () -> containers.updated(allocation, scheduler::getRMContainer));
  }
}
