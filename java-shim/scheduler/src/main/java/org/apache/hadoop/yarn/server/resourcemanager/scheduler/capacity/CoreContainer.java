package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;

/** A container as the core is told of it. */
final class CoreContainer {
  final ContainerId id;
  final int application;
  final int node;
  final boolean applicationMaster;
  final Resource size;

  CoreContainer(
      ContainerId id, int application, int node, boolean applicationMaster, Resource size) {
    this.id = id;
    this.application = application;
    this.node = node;
    this.applicationMaster = applicationMaster;
    this.size = size;
  }
}
