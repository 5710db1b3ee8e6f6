package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** The node's memory shrinks between the proposal and the commit of one application. */
public final class VetoingScheduler extends ElastaneScheduler {
  /** A master of this size fills it. */
  private static final int REFUSED_MIB = 1024;

  private TestCluster testCluster;
  private MockNM node;
  private MockAM refused;
  private int proposals;

  void refuse(TestCluster cluster, MockNM on, MockAM master) {
    testCluster = cluster;
    node = on;
    refused = master;
  }

  /** How many containers were proposed since. */
  int proposals() {
    return proposals;
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"}) // as the superclass declares it
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean update) {
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> typed = request;
    if (refused == null || typed.getContainersToAllocate().isEmpty()) {
      return super.tryCommit(cluster, request, update);
    }
    proposals++;
    FiCaSchedulerApp attempt =
        typed
            .getFirstAllocatedOrReservedContainer()
            .getAllocatedOrReservedContainer()
            .getSchedulerApplicationAttempt();
    if (!attempt.getApplicationAttemptId().equals(refused.getApplicationAttemptId())) {
      return super.tryCommit(cluster, request, update);
    }
    try {
      testCluster.reportMemory(node, REFUSED_MIB);
      boolean committed = super.tryCommit(cluster, request, update);
      testCluster.report(node);
      return committed;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
