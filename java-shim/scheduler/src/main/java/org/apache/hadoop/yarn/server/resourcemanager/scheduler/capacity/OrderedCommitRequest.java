package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * A request for a container that the core's order led to. With asynchronous scheduling another
 * thread commits it, so it says so itself.
 */
final class OrderedCommitRequest
    extends ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> {
  OrderedCommitRequest(ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    super(
        request.getContainersToAllocate(),
        request.getContainersToReserve(),
        request.getContainersToRelease());
  }
}
