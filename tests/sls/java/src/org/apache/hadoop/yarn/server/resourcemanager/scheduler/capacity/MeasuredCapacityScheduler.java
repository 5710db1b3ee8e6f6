package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.sls.scheduler.SLSCapacityScheduler;

/** CapacityScheduler as SLS runs it, measured. */
public class MeasuredCapacityScheduler extends SLSCapacityScheduler implements MeasuredScheduler {
  private final LoadMeasure measure = SlsBenchmark.measureOf(this);

  @Override
  public void handle(SchedulerEvent event) {
    measure.handle(event, super::handle, () -> ClusterInvariants.check(this));
  }

  @Override
  @SuppressWarnings("rawtypes") // as the superclass declares it
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    return measure.committed(request, super.tryCommit(cluster, request, updatePending));
  }
}
