package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationAttemptId;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.Allocation;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ContainerUpdates;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSetUtils;
import org.apache.hadoop.yarn.util.MonotonicClock;
import org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.conf.Mode;
import org.elastane.depository.SharedDepository;
import org.elastane.natives.NativeLibrary;
import org.elastane.usage.UsageServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The core's part of each hook of {@link ElastaneScheduler}. Runs under {@link CoreGuard}, so only
 * {@link #open} and {@link #startTakingReports} throw into the scheduler.
 */
final class CoreLink {
  private static final Logger LOG = LoggerFactory.getLogger(CoreLink.class);

  private final ElastaneScheduler scheduler;
  private final boolean enforce;
  private final CoreHandle core;
  private final ElastaneMetrics metrics;
  private final CoreGuard guard;
  private final CoreStatus status;
  private final CoreApplications applications;
  private final CoreContainers containers;
  private final BookableCapacity bookable;
  private final MemoryPreemption memory;
  private final LeafQueuePolicies policies;
  private final CoreQueues queues;
  private final Headroom headroom;
  private final Rounds rounds;
  private final CoreEvents events;
  private UsageServer usageServer;
  private SharedDepository shared;

  private CoreLink(
      ElastaneScheduler scheduler, CoreHandle core, Mode mode, boolean virtualCoresCount) {
    this.scheduler = scheduler;
    this.core = core;
    enforce = mode == Mode.ENFORCE;
    metrics = new ElastaneMetrics(mode.name().toLowerCase(Locale.ROOT));
    guard = new CoreGuard(metrics);
    status = new CoreStatus(guard, core, new MonotonicClock());
    applications = new CoreApplications(core);
    CoreNodes nodes = new CoreNodes(core);
    containers = new CoreContainers(core, nodes, applications, enforce);
    bookable =
        new BookableCapacity(
            core, nodes, scheduler::getNode, scheduler.resizer(), scheduler.schedulerLock());
    memory = new MemoryPreemption(scheduler, core, metrics);
    policies = new LeafQueuePolicies(this::newQueueOrder);
    queues = new CoreQueues(core, () -> scheduler.getCapacitySchedulerQueueManager().getQueues());
    headroom = new Headroom(core, applications);
    rounds = new Rounds(core, nodes, applications, metrics, policies::count, virtualCoresCount);
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
            enforce ? policies : null);
  }

  /**
   * Loads the library and opens the core.
   *
   * @throws IllegalArgumentException naming the key, the value and what is allowed
   */
  static CoreLink open(ElastaneScheduler scheduler, Configuration conf, Mode mode) {
    NativeLibrary.load();
    boolean virtualCoresCount =
        !(scheduler.getResourceCalculator() instanceof DefaultResourceCalculator);
    CoreHandle core =
        CoreHandle.open(
            ElastaneConfiguration.settingsJson(conf), virtualCoresCount, new SteadyClock());
    try {
      CoreLink link = new CoreLink(scheduler, core, mode, virtualCoresCount);
      if (mode == Mode.ENFORCE && ElastaneConfiguration.raisesNoNode(conf)) {
        LOG.warn("No node is raised: YARN's reservation system plans with the nodes' sizes");
      }
      link.metrics.register(link.guard::inService, link.bookable::sizes);
      link.status.register();
      link.queuesRefreshed();
      return link;
    } catch (RuntimeException | Error e) {
      core.close();
      throw e;
    }
  }

  /** This ResourceManager has become active. */
  void startTakingReports(Configuration conf) throws IOException {
    shared = SharedDepository.start(conf, core, metrics::sharingFailed);
    usageServer =
        new UsageServer(
            conf,
            scheduler.getRMContext().getRMNodes()::containsKey,
            new UsageReports(guard, core));
    usageServer.start();
  }

  void stopTakingReports() {
    if (shared != null) {
      shared.close();
    }
    if (usageServer != null) {
      guard.always(
          "stop taking reports",
          null,
          () -> {
            usageServer.stop();
            return null;
          });
    }
  }

  void close() {
    guard.always(
        "close",
        null,
        () -> {
          status.unregister();
          metrics.unregister();
          core.close();
          return null;
        });
  }

  /** The queues were set up again. The caller holds the scheduler's write lock, except at start. */
  void queuesRefreshed() {
    guard.run("queues refreshed", queues::tell);
    if (enforce) {
      guard.run(
          "queues refreshed",
          () ->
              policies.install(scheduler.getCapacitySchedulerQueueManager().getQueues().values()));
    }
  }

  /** The event that CapacityScheduler is to handle; null when it is held back. */
  SchedulerEvent before(SchedulerEvent event) {
    lowerIfOutOfService();
    if (event.getType() == SchedulerEventType.NODE_UPDATE && bookable.isDue()) {
      // In mode observe as well: no node is resized, but the core does its housekeeping in this
      // call.
      guard.run("bookable capacity", bookable::follow);
      guard.run("memory preemption", memory::follow);
    }
    return enforce ? guard.always("event", event, () -> events.before(event)) : event;
  }

  /** CapacityScheduler has handled the event. */
  void after(SchedulerEvent event) {
    if (event.getType() != SchedulerEventType.NODE_UPDATE) {
      events.after(event);
    }
    FiCaSchedulerApp attempt = applications.nextRestored();
    while (attempt != null) {
      pendingChanged(attempt);
      attempt = applications.nextRestored();
    }
  }

  /** An ApplicationMaster's call, or the ResourceManager's for an ApplicationMaster. */
  void allocated(
      ApplicationAttemptId attemptId,
      List<ResourceRequest> asks,
      List<SchedulingRequest> schedulingRequests,
      ContainerUpdates updates,
      Allocation allocation) {
    boolean asked =
        !asks.isEmpty()
            || (schedulingRequests != null && !schedulingRequests.isEmpty())
            || !updates.getIncreaseRequests().isEmpty()
            || !updates.getDecreaseRequests().isEmpty();
    if (asked) {
      FiCaSchedulerApp attempt = scheduler.getApplicationAttempt(attemptId);
      if (attempt != null) {
        pendingChanged(attempt);
      }
    }
    if (enforce && largestRegistered() != null) {
      guard.run("headroom", () -> headroom.limit(attemptId.getApplicationId(), allocation));
    }
    resized(allocation.getIncreasedContainers());
    resized(allocation.getDecreasedContainers());
  }

  private void resized(List<Container> resized) {
    if (resized == null || resized.isEmpty()) {
      return;
    }
    guard.run(
        "container resized",
        () -> {
          for (Container container : resized) {
            RMContainer running = scheduler.getRMContainer(container.getId());
            if (running != null) {
              containers.resized(running, container);
            }
          }
        });
  }

  void moved(ApplicationId application) {
    guard.run(
        "application moved",
        () -> applications.moved(application, events.queuePathOf(application)));
  }

  /** Begins this thread's round; null where CapacityScheduler's order applies. */
  Rounds.Round beginRound(CandidateNodeSet<FiCaSchedulerNode> candidates) {
    if (!enforce || !guard.inService()) {
      return null;
    }
    return guard.supply(
        "round",
        null,
        () -> {
          FiCaSchedulerNode node = CandidateNodeSetUtils.getSingleNode(candidates);
          if (node == null) {
            return null;
          }
          Rounds.Round round = rounds.current();
          round.begin(node);
          return round;
        });
  }

  /** Marks a request that the core's order led to. */
  ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> markIfOrdered(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request) {
    if (!enforce || request.getContainersToAllocate().isEmpty()) {
      return request;
    }
    return guard.supply("round", request, () -> rounds.markIfOrdered(request));
  }

  /** Announces a request to the core before CapacityScheduler accepts or rejects it. */
  CoreContainers.Commit beforeCommit(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request, boolean updatePending) {
    CoreContainers.Commit commit =
        guard.supply(
            "commit", CoreContainers.Commit.OF_NOTHING, () -> containers.announce(request));
    // Afterwards, since the core may fail in this very call.
    lowerIfOutOfService();
    if (commit.isRefused()) {
      metrics.commitRefused();
      rounds.current().refuse();
      if (updatePending) {
        // CapacityScheduler added the amount when it proposed the container; a rejected proposal
        // takes it back.
        commit.attempt().decUnconfirmedRes(request.getTotalAllocatedResource());
      }
    }
    return commit;
  }

  void afterCommit(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request,
      CoreContainers.Commit commit,
      boolean committed) {
    if (commit.attempt() == null) {
      return;
    }
    if (!committed) {
      guard.run("commit refused elsewhere", () -> containers.takeBack(commit));
    } else if (request instanceof Rounds.OrderedCommitRequest) {
      metrics.placedByCore();
    }
    pendingChanged(commit.attempt());
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

  /** The server that receives reports; null before {@link #startTakingReports}. */
  UsageServer usageServer() {
    return usageServer;
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

  private void pendingChanged(FiCaSchedulerApp attempt) {
    guard.run(
        "pending",
        () -> {
          CSQueue queue = (CSQueue) attempt.getQueue();
          applications.pendingChanged(attempt, policies.isOurs(queue.getQueuePath()));
        });
  }

  /** Lowers raised nodes once the core has failed, before anything else is placed on them. */
  private void lowerIfOutOfService() {
    if (!guard.inService() && enforce && !bookable.isLowered()) {
      guard.always(
          "lower",
          null,
          () -> {
            bookable.lowerAll();
            return null;
          });
    }
  }

  private QueueOrder newQueueOrder() {
    return new QueueOrder(guard, applications, rounds);
  }
}
