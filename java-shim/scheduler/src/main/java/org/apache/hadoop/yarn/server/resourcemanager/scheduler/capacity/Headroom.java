package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * What an ApplicationMaster is told is left. CapacityScheduler computes it from raised nodes, and
 * the core may hold the application's queue to less.
 */
final class Headroom {
  private final CoreHandle core;
  private final CoreApplications applications;

  // Not static: a JVM may hold more than one scheduler.
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<NumberBuffer> answers =
      ThreadLocal.withInitial(() -> new NumberBuffer(2));

  Headroom(CoreHandle core, CoreApplications applications) {
    this.core = core;
    this.applications = applications;
  }

  void limit(ApplicationId application, Allocation allocation) {
    ApplicationRecord record = applications.find(application);
    Resource told = allocation.getResourceLimit();
    NumberBuffer answer = answers.get();
    if (record == null || told == null) {
      return;
    }
    // The core answers for nodes without a label; CapacityScheduler adds up those that are asked
    // for.
    if (record.asksForLabel() || !core.headroom(record.number, answer)) {
      return;
    }
    Resource limit = Resources.clone(told);
    limit.setMemorySize(Math.min(told.getMemorySize(), answer.get(0)));
    limit.setVirtualCores(Math.min(told.getVirtualCores(), answer.get(1)));
    allocation.setResourceLimit(limit);
  }
}
