package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.AppAttemptAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeAddedSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.sls.SLSRunner;
import org.apache.hadoop.yarn.sls.scheduler.SchedulerMetrics;
import org.apache.hadoop.yarn.sls.scheduler.SchedulerWrapper;
import org.apache.hadoop.yarn.sls.scheduler.Tracker;
import org.elastane.conf.ElastaneConfiguration;

/** ElastaneScheduler under SLS, measured, with agents that report and demands that are known. */
public class MeasuredElastaneScheduler extends ElastaneScheduler
    implements MeasuredScheduler, SchedulerWrapper {
  private final LoadMeasure measure = SlsBenchmark.measureOf(this);
  private final Tracker tracker = new Tracker();
  private SimulatedReports reports;
  private SLSRunner runner;

  @Override
  public void serviceInit(Configuration conf) throws Exception {
    super.serviceInit(conf);
    reports =
        new SimulatedReports(
            link(),
            conf.getInt(ElastaneConfiguration.SCHEDULER_PREFIX + "report.interval-ms", 3000),
            measure::failed);
  }

  @Override
  public void serviceStop() throws Exception {
    // Null if serviceInit failed.
    if (reports != null) {
      reports.close();
    }
    super.serviceStop();
  }

  @Override
  public void handle(SchedulerEvent event) {
    measure.handle(event, super::handle, this::check);
    if (event instanceof NodeAddedSchedulerEvent added) {
      reports.add(added.getAddedRMNode());
    } else if (event instanceof AppAttemptAddedSchedulerEvent added) {
      SlsBenchmark.tellDemand(link(), added.getApplicationAttemptId().getApplicationId());
    }
  }

  private void check() {
    ClusterInvariants.check(this);
    Bookings.reconcile(this);
    Map<String, Long> counters = counters();
    for (String fault : SlsBenchmark.FAULTS) {
      if (counters.get(fault) != 0) {
        throw new IllegalStateException(fault + " is " + counters.get(fault));
      }
    }
    if (!link().guard().inService()) {
      throw new IllegalStateException("the core is out of service");
    }
  }

  @Override
  public Map<String, Long> counters() {
    Map<String, Long> counters = new TreeMap<>();
    Published.metricsOf(link().metrics())
        .forEach(
            (name, value) -> {
              if (SlsBenchmark.COUNTERS.contains(name) || SlsBenchmark.FAULTS.contains(name)) {
                counters.put(name, value.longValue());
              }
            });
    counters.put("Reports", reports.sent());
    return counters;
  }

  @Override
  @SuppressWarnings("rawtypes") // as the superclass declares it
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    return measure.committed(request, super.tryCommit(cluster, request, updatePending));
  }

  @Override
  public void propagatedHandle(SchedulerEvent event) {
    super.handle(event);
  }

  @Override
  public Allocation allocatePropagated(
      ApplicationAttemptId attempt,
      List<ResourceRequest> asks,
      List<SchedulingRequest> schedulingRequests,
      List<ContainerId> release,
      List<String> blacklistAdditions,
      List<String> blacklistRemovals,
      ContainerUpdates updates) {
    return super.allocate(
        attempt, asks, schedulingRequests, release, blacklistAdditions, blacklistRemovals, updates);
  }

  @Override
  public String getRealQueueName(String queue) throws YarnException {
    CSQueue found = getQueue(queue);
    if (found == null) {
      throw new YarnException("there is no queue " + queue);
    }
    return found.getQueuePath();
  }

  /** SLS's own figures are switched off for both schedulers. */
  @Override
  public SchedulerMetrics getSchedulerMetrics() {
    return null;
  }

  @Override
  public Tracker getTracker() {
    return tracker;
  }

  @Override
  public void setSLSRunner(SLSRunner slsRunner) {
    runner = slsRunner;
  }

  @Override
  public SLSRunner getSLSRunner() {
    return runner;
  }
}
