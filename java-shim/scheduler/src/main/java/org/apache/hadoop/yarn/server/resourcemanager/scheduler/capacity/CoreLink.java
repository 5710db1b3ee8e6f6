package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSetUtils;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.CoreException;
import org.elastane.natives.NativeLibrary;
import org.elastane.natives.Natives;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The core's part of each hook of {@link ElastaneScheduler}. Runs under {@link CoreGuard}, so only
 * {@link #open} throws into the scheduler, and only for a configuration or an installation that is
 * wrong.
 */
final class CoreLink {
  private static final Logger LOG = LoggerFactory.getLogger(CoreLink.class);

  private final ElastaneScheduler scheduler;
  private final Enforcement enforcement;
  private final LiveSettings settings;
  private final CoreHandle core;
  private final ElastaneMetrics metrics;
  private final CoreGuard guard;
  private final Parts parts;
  private final Shown shown;
  private final CoreApplications applications;
  private final CoreContainers containers;
  private final BookableCapacity bookable;
  private final LoweringAtFailure lowering;
  private final Housekeeping housekeeping;
  private final LeafQueuePolicies policies;
  private final CoreQueues queues;
  private final CoreAllocations allocations;
  private final Reconciliation reconciliation;
  private final CapacityPreemption preemption;
  private final LabelEvents labelEvents;
  private final OrderedQueues ordered;
  private final Rounds rounds;
  private final CoreEvents events;
  private final CoreRecovery recovery;
  private final ActiveServices active;
  private final CoreCommits commits;

  private CoreLink(
      ElastaneScheduler scheduler, CoreHandle core, Configuration conf, boolean virtualCoresCount) {
    this.scheduler = scheduler;
    this.core = core;
    metrics = new ElastaneMetrics();
    guard = new CoreGuard(metrics);
    parts = new Parts(core, metrics);
    shown = new Shown(scheduler, guard, parts.status, core);
    applications = new CoreApplications(core, new SharedProfiles(scheduler::getConfiguration));
    CoreNodes nodes = new CoreNodes(core);
    policies = new LeafQueuePolicies(this::newQueueOrder);
    bookable =
        new BookableCapacity(
            core, nodes, scheduler::getNode, scheduler.resizer(), scheduler.schedulerLock());
    enforcement = new Enforcement(bookable::isAnyRaised);
    ordered = new OrderedQueues(policies, enforcement, scheduler.isMultiNodePlacementEnabled());
    containers = new CoreContainers(core, nodes, applications, ordered::orders, enforcement);
    lowering = new LoweringAtFailure(guard, bookable, scheduler.schedulerLock(), enforcement);
    queues = new CoreQueues(core, scheduler, ordered);
    allocations =
        new CoreAllocations(
            scheduler, guard, containers, new Headroom(core, applications), this::pendingChanged);
    labelEvents =
        new LabelEvents(
            scheduler::getNode,
            node -> scheduler.getRMContext().getNodeLabelManager().getLabelsOnNode(node));
    preemption = new CapacityPreemption(scheduler, guard, core, nodes, containers);
    reconciliation = new Reconciliation(core, nodes, containers, scheduler::getNode, metrics);
    housekeeping =
        new Housekeeping(
            guard,
            new SecondlyWork(
                guard,
                bookable,
                reconciliation,
                new NodeDrains(core, nodes),
                parts.memoryPreemption,
                new MemoryPreemption(scheduler, core, metrics)));
    UsersAtLimit atLimit =
        new UsersAtLimit(guard, parts.userLimits, scheduler::getClusterResource, applications);
    rounds =
        new Rounds(core, nodes, applications, atLimit, metrics, policies::count, virtualCoresCount);
    settings = new LiveSettings(core, guard, enforcement, rounds, shown.status(), conf);
    events =
        new CoreEvents(
            scheduler,
            guard,
            nodes,
            applications,
            containers,
            bookable,
            new PreemptionHold(guard, core, scheduler::getAllNodes, nodes, metrics),
            queues,
            labelEvents,
            preemption,
            policies,
            enforcement);
    commits =
        new CoreCommits(
            guard,
            containers,
            rounds,
            metrics,
            lowering,
            this::pendingChanged,
            scheduler::killReservedContainer);
    active =
        new ActiveServices(
            guard,
            core,
            parts,
            metrics,
            node -> scheduler.getRMContext().getRMNodes().containsKey(node),
            new ObserveFileWatch(settings, scheduler.schedulerLock(), this::installPolicies),
            new SizeMetrics(scheduler, shown.sizes()),
            shown.history(),
            new WaitReasons(scheduler, shown.status()::snapshot));
    CoreRebuild rebuild =
        new CoreRebuild(
            scheduler,
            guard,
            core,
            nodes,
            applications,
            events,
            queues,
            bookable,
            policies,
            ordered);
    recovery =
        new CoreRecovery(
            guard,
            () -> {
              lowering.all();
              rebuild.openAnew();
              settings.tellCore();
            });
  }

  /**
   * Loads the library and opens the core. A core that cannot be opened now is tried again.
   *
   * @param hasBegun whether there are nodes and applications already: then {@link #queuesRefreshed}
   *     opens the core and tells it of them
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  static CoreLink open(ElastaneScheduler scheduler, Configuration conf, boolean hasBegun) {
    NativeLibrary.load();
    boolean virtualCoresCount = scheduler.doVirtualCoresCount();
    CoreHandle core = new CoreHandle(virtualCoresCount, new SteadyClock());
    try {
      CoreLink link = new CoreLink(scheduler, core, conf, virtualCoresCount);
      link.guard.onFailure(link.recovery::coreFailed);
      if (hasBegun) {
        link.guard.beginOutOfService();
      } else {
        link.openCore();
      }
      link.metrics.register(link.figures());
      link.installPolicies();
      LOG.info("Elastane {} in mode {}", Natives.version(), ElastaneConfiguration.mode(conf));
      return link;
    } catch (RuntimeException | Error e) {
      core.close();
      throw e;
    }
  }

  private ClusterFigures figures() {
    return new ClusterFigures(
        guard,
        settings,
        parts,
        () -> scheduler.getRMContext().getHAServiceState() == HAServiceState.ACTIVE,
        () -> raisingForbidden() != null,
        shown.status()::snapshot,
        shown.sizes()::all);
  }

  private void openCore() {
    try {
      core.reopen();
    } catch (CoreException e) {
      guard.takeOutOfService("open", e);
    }
  }

  /** What runs while this ResourceManager is active. */
  ActiveServices activeServices() {
    return active;
  }

  void close() {
    recovery.close();
    guard.always("end housekeeping", housekeeping::close);
    guard.always("close the metrics", metrics::unregister);
    guard.always("close the core", core::close);
  }

  /** The queues were set up again. The caller holds the scheduler's write lock, except at start. */
  void queuesRefreshed() {
    recovery.refreshed();
    installPolicies();
  }

  /** What a refresh would change, and changes. */
  LiveSettings settings() {
    return settings;
  }

  private void installPolicies() {
    guard.run(
        "queues refreshed",
        () -> ordered.install(scheduler.getCapacitySchedulerQueueManager().getQueues().values()));
    // Whether the core orders a queue may have changed.
    for (SchedulerApplication<FiCaSchedulerApp> application :
        scheduler.getSchedulerApplications().values()) {
      pendingChanged(application.getCurrentAppAttempt());
    }
    guard.run("queues refreshed", queues::tell);
  }

  /** Why no node may be raised above its registered size; null if nodes may be raised. */
  String raisingForbidden() {
    return ordered.raisingForbidden();
  }

  /** The event that CapacityScheduler is to handle; null when it is held back. */
  SchedulerEvent before(SchedulerEvent event) {
    if (event.getType() == SchedulerEventType.NODE_UPDATE) {
      beforeHeartbeat(((NodeUpdateSchedulerEvent) event).getRMNode().getNodeID());
    }
    return enforcement.wasOn() ? guard.always("event", event, () -> events.before(event)) : event;
  }

  private void beforeHeartbeat(NodeId node) {
    if (enforcement.wasOn()) {
      lowering.some();
      rounds.current().beginHeartbeat();
    }
    housekeeping.heartbeat();
    if (bookable.hasMoreToResize()) {
      guard.run("bookable capacity", () -> bookable.followOn(node));
    }
  }

  /** CapacityScheduler has handled the event. */
  void after(SchedulerEvent event) {
    if (event.getType() != SchedulerEventType.NODE_UPDATE) {
      events.after(event);
    }
    preemption.tellEnded();
    FiCaSchedulerApp attempt = applications.nextRestored();
    while (attempt != null) {
      pendingChanged(attempt);
      attempt = applications.nextRestored();
    }
  }

  void moved(ApplicationId application) {
    guard.run(
        "application moved",
        () -> applications.moved(application, events.queuePathOf(application)));
    SchedulerApplication<FiCaSchedulerApp> moved =
        scheduler.getSchedulerApplications().get(application);
    if (moved != null) {
      pendingChanged(moved.getCurrentAppAttempt());
    }
  }

  /** Begins this thread's round; null if the core does not take part. */
  Round beginRound(CandidateNodeSet<FiCaSchedulerNode> candidates, boolean withinHeartbeat) {
    if (!enforcement.isOn() || !guard.inService()) {
      return null;
    }
    return guard.supply(
        "round",
        null,
        () ->
            rounds.begin(
                ordered.byNode() ? CandidateNodeSetUtils.getSingleNode(candidates) : null,
                withinHeartbeat));
  }

  void endRound(Round round) {
    guard.run("skipped", round::tellSkipped);
    round.end();
  }

  /** Marks a request that the core's order led to. */
  ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> markIfOrdered(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    if (!enforcement.isOn() || request.getContainersToAllocate().isEmpty()) {
      return request;
    }
    return guard.supply("round", request, () -> rounds.markIfOrdered(request));
  }

  CoreCommits commits() {
    return commits;
  }

  CoreAllocations allocations() {
    return allocations;
  }

  CapacityPreemption preemption() {
    return preemption;
  }

  LabelEvents labelEvents() {
    return labelEvents;
  }

  Reconciliation reconciliation() {
    return reconciliation;
  }

  void completed(RMContainer container) {
    guard.run(
        "container completed",
        () -> {
          containers.finished(container);
          if (container.getContainerRequest() != null) {
            FiCaSchedulerApp attempt =
                scheduler.getApplicationAttempt(container.getApplicationAttemptId());
            if (attempt != null) {
              applications.asksAreRestored(attempt);
            }
          }
        });
  }

  /** See {@link BookableCapacity#largestRegistered}. */
  Resource largestRegistered() {
    return bookable.largestRegistered();
  }

  Parts parts() {
    return parts;
  }

  CoreStatus status() {
    return shown.status();
  }

  Shown shown() {
    return shown;
  }

  CoreRecovery recovery() {
    return recovery;
  }

  ElastaneMetrics metrics() {
    return metrics;
  }

  CoreGuard guard() {
    return guard;
  }

  CoreHandle core() {
    return core;
  }

  CoreApplications applications() {
    return applications;
  }

  /** Tells the core what an attempt waits for now; nothing if the attempt is null. */
  void pendingChanged(FiCaSchedulerApp attempt) {
    if (attempt != null) {
      guard.run(
          "pending", () -> applications.pendingChanged(attempt, ordered.hasOurPolicy(attempt)));
    }
  }

  private QueueOrder newQueueOrder(String queuePath) {
    return new QueueOrder(queuePath, guard, applications, rounds);
  }
}
