package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** A container as the core is told of it. */
final class CoreContainer {
  final ContainerId id;
  final int application;
  final int node;
  final boolean applicationMaster;

  /** Of the request that it was allocated for. */
  final int requestPriority;

  final Resource size;

  CoreContainer(
      ContainerId id,
      int application,
      int node,
      boolean applicationMaster,
      SchedulerRequestKey request,
      Resource size) {
    this.id = id;
    this.application = application;
    this.node = node;
    this.applicationMaster = applicationMaster;
    requestPriority = request.getPriority().getPriority();
    this.size = size;
  }
}
