package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerStatus;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.exceptions.YarnException;
import org.apache.hadoop.yarn.server.resourcemanager.RMContext;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceLimits;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.Mode;
import org.elastane.conf.SettingsFiles;
import org.elastane.depository.SharedDepository;
import org.elastane.usage.UsageServer;

/**
 * CapacityScheduler, with Elastane's core told of each change and, in mode {@code enforce}, asked
 * which applications a node is offered to. docs/scheduler.md describes a heartbeat's path.
 *
 * <p>Holds the hooks only: each leaves CapacityScheduler's part to CapacityScheduler and hands
 * Elastane's to {@link CoreLink}, which throws nothing. In mode {@code off} there is no link, and
 * this class is CapacityScheduler.
 */
public class ElastaneScheduler extends CapacityScheduler {
  private static final int NO_OVERCOMMIT_TIME_OUT = -1;

  /** Set once, at the start or by the refresh that leaves mode {@code off}. */
  private volatile CoreLink link;

  /** What {@link #link} was opened by. */
  private Configuration openedBy;

  private SettingsReader settings;

  private final NodeBeingResized beingResized = new NodeBeingResized();

  /**
   * Opens the core, on a standby too: applications are recovered before {@link #serviceStart}.
   *
   * <p>Only a configuration or an installation that is wrong ends here. Trouble that may pass, such
   * as a locked file, costs its part of Elastane and is tried again.
   *
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  @Override
  public void serviceInit(Configuration conf) throws Exception {
    Mode mode = ElastaneConfiguration.mode(conf);
    if (mode != Mode.OFF) {
      UsageServer.check(conf);
      SharedDepository.check(conf);
    }
    super.serviceInit(conf);
    settings =
        new SettingsReader(
            new SettingsFiles(rmContext.getConfigurationProvider(), conf),
            () -> link != null,
            this::doVirtualCoresCount,
            () -> {
              if (link != null) {
                link.metrics().settingsRefused();
              }
            });
    openedBy = conf;
    if (mode != Mode.OFF) {
      link = CoreLink.open(this, conf, false);
      warnOfUnknownNames(conf);
    }
  }

  @Override
  public void serviceStart() throws Exception {
    super.serviceStart();
    if (link != null) {
      link.activeServices().start(openedBy, rmContext.getResourceManager());
    }
  }

  @Override
  public void serviceStop() throws Exception {
    if (link != null) {
      link.activeServices().stop();
    }
    try {
      super.serviceStop();
    } finally {
      if (link != null) {
        link.close();
      }
    }
  }

  /**
   * Reads Elastane's settings again, too. Where one is not allowed, nothing is refreshed: neither
   * the settings nor the queues.
   *
   * @throws IOException naming the key, the value and what is allowed, or CapacityScheduler's
   */
  @Override
  public void reinitialize(Configuration newConf, RMContext context, boolean validation)
      throws IOException {
    boolean isFailover = context.getHAServiceState() != HAServiceState.ACTIVE;
    // Not under the lock: the file may be in HDFS, and checks resolve host names.
    Configuration fresh = settings.read(newConf, isFailover);
    writeLock.lock();
    try {
      super.reinitialize(newConf, context, validation);
      if (fresh != null) {
        goOnBy(fresh);
      }
    } finally {
      // Also when the new configuration was refused: CapacityScheduler has restored the old one.
      try {
        if (link != null) {
          link.queuesRefreshed();
        }
      } finally {
        writeLock.unlock();
      }
    }
  }

  private void goOnBy(Configuration fresh) {
    if (link != null) {
      link.settings().use(fresh);
    } else if (ElastaneConfiguration.mode(fresh) != Mode.OFF) {
      link = CoreLink.open(this, fresh, true);
      openedBy = fresh;
      if (isInState(STATE.STARTED)) {
        link.activeServices().start(fresh, rmContext.getResourceManager());
      }
    }
    if (link != null) {
      warnOfUnknownNames(fresh);
    }
  }

  private void warnOfUnknownNames(Configuration conf) {
    link.guard().always("warn of unknown names", () -> UnknownNames.warn(this, conf));
  }

  /** Whether CapacityScheduler books virtual cores, or memory alone. */
  boolean doVirtualCoresCount() {
    return !(getResourceCalculator() instanceof DefaultResourceCalculator);
  }

  @Override
  public void handle(SchedulerEvent event) {
    if (link == null) {
      super.handle(event);
      return;
    }
    SchedulerEvent toHandle = link.before(event);
    if (toHandle != null) {
      super.handle(toHandle);
      link.after(event);
    }
  }

  /** How {@link NodeResizes} resizes nodes. */
  NodeResizes.Resizer resizer() {
    return new NodeResizes.Resizer() {
      @Override
      public void resize(RMNode node, Resource size) {
        link.labelEvents().expect(node.getNodeID());
        ResourceOption option = ResourceOption.newInstance(size, NO_OVERCOMMIT_TIME_OUT);
        beingResized.during(getNode(node.getNodeID()), () -> updateNodeResource(node, option));
      }

      @Override
      public void recomputeQueues() {
        Resource cluster = getClusterResource();
        getRootQueue().updateClusterResource(cluster, new ResourceLimits(cluster));
      }
    };
  }

  @Override
  public FiCaSchedulerNode getNode(NodeId id) {
    return beingResized.find(id, super::getNode);
  }

  @Override
  public FiCaSchedulerNode getSchedulerNode(NodeId id) {
    return beingResized.find(id, super::getSchedulerNode);
  }

  /** As in CapacityScheduler, but never more than a node registered. */
  @Override
  public Resource getMaximumResourceCapability() {
    Resource largest = link == null ? null : link.largestRegistered();
    Resource maximum = super.getMaximumResourceCapability();
    return largest == null ? maximum : Resources.componentwiseMin(maximum, largest);
  }

  @Override
  public Allocation allocate(
      ApplicationAttemptId attemptId,
      List<ResourceRequest> asks,
      List<SchedulingRequest> schedulingRequests,
      List<ContainerId> release,
      List<String> blacklistAdditions,
      List<String> blacklistRemovals,
      ContainerUpdates updates) {
    Allocation allocation =
        super.allocate(
            attemptId,
            asks,
            schedulingRequests,
            release,
            blacklistAdditions,
            blacklistRemovals,
            updates);
    if (link != null) {
      link.allocations().allocated(attemptId, asks, schedulingRequests, updates, allocation);
    }
    return allocation;
  }

  @Override
  public String moveApplication(ApplicationId application, String queue) throws YarnException {
    String moved = super.moveApplication(application, queue);
    if (link != null) {
      link.moved(application);
    }
    return moved;
  }

  @Override
  CSAssignment allocateContainersToNode(
      CandidateNodeSet<FiCaSchedulerNode> candidates, boolean withNodeHeartbeat) {
    Round round = link == null ? null : link.beginRound(candidates, withNodeHeartbeat);
    if (round == null) {
      return super.allocateContainersToNode(candidates, withNodeHeartbeat);
    }
    try {
      CSAssignment assignment = super.allocateContainersToNode(candidates, withNodeHeartbeat);
      while (round.isRefused()) {
        if (!round.leaveOutRefused()) {
          // CapacityScheduler repeats an assignment until it returns null, whatever its commit did.
          return null;
        }
        assignment = super.allocateContainersToNode(candidates, withNodeHeartbeat);
      }
      return assignment;
    } finally {
      link.endRound(round);
    }
  }

  @Override
  public ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> createResourceCommitRequest(
      CSAssignment assignment) {
    ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request =
        super.createResourceCommitRequest(assignment);
    return link == null || request == null ? request : link.markIfOrdered(request);
  }

  @Override
  @SuppressWarnings({"rawtypes", "unchecked"}) // as the superclass declares it
  public boolean tryCommit(Resource cluster, ResourceCommitRequest request, boolean updatePending) {
    if (link == null || request == null) {
      return super.tryCommit(cluster, request, updatePending);
    }
    CoreContainers.Commit commit = link.commits().before(request, updatePending);
    if (commit.isRefused()) {
      return false;
    }
    boolean committed = super.tryCommit(cluster, request, updatePending);
    link.commits().after(request, commit, committed);
    return committed;
  }

  @Override
  public void markContainerForKillable(RMContainer container) {
    if (link == null) {
      super.markContainerForKillable(container);
      return;
    }
    writeLock.lock();
    try {
      link.preemption().mark(container, super::markContainerForKillable);
    } finally {
      writeLock.unlock();
    }
  }

  @Override
  protected void completedContainerInternal(
      RMContainer container, ContainerStatus status, RMContainerEventType event) {
    super.completedContainerInternal(container, status, event);
    if (link != null) {
      link.preemption().completed(container);
      link.completed(container);
    }
  }

  /** The lock that CapacityScheduler's changes take. */
  Lock schedulerLock() {
    return writeLock;
  }

  /** The link to the core; null in mode {@code off}. */
  CoreLink link() {
    return link;
  }
}
