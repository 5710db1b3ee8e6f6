package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerAllocationProposal;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** Notes each container that a user gets above the user limit of that moment. */
public final class UserLimitCheckingScheduler extends ElastaneScheduler {
  private final List<String> violations = new ArrayList<>();

  /** What users got above their limits. */
  List<String> violations() {
    return violations;
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"}) // as the superclass declares it
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    String violation = null;
    if (request != null && !request.getContainersToAllocate().isEmpty()) {
      violation =
          violation(
              ((ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode>) request)
                  .getContainersToAllocate()
                  .get(0));
    }
    boolean committed = super.tryCommit(cluster, request, updatePending);
    if (committed && violation != null) {
      violations.add(violation);
    }
    return committed;
  }

  /** CapacityScheduler's rule: a user within the limit gets one container more. */
  private String violation(
      ContainerAllocationProposal<FiCaSchedulerApp, FiCaSchedulerNode> proposal) {
    if (proposal.getAllocateFromReservedContainer() != null) {
      // It was checked when the node was reserved.
      return null;
    }
    FiCaSchedulerApp attempt =
        proposal.getAllocatedOrReservedContainer().getSchedulerApplicationAttempt();
    LeafQueue leaf = (LeafQueue) attempt.getQueue();
    String user = attempt.getUser();
    Resource used =
        Resources.subtract(leaf.getUser(user).getUsed(), attempt.getCurrentReservation());
    Resource limit =
        leaf.getResourceLimitForActiveUsers(
            user, getClusterResource(), "", SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    return Resources.lessThanOrEqual(getResourceCalculator(), getClusterResource(), used, limit)
        ? null
        : user + " used " + used + " of " + leaf.getQueuePath() + ", the limit was " + limit;
  }
}
