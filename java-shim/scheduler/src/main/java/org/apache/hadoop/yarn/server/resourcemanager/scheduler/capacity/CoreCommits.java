package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.function.Consumer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ResourceCommitRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** The core's part of each commit: told before, and told again if the commit was rejected. */
final class CoreCommits {
  private final CoreGuard guard;
  private final CoreContainers containers;
  private final Rounds rounds;
  private final ElastaneMetrics metrics;
  private final LoweringAtFailure lowering;
  private final Consumer<FiCaSchedulerApp> pendingChanged;
  private final Consumer<RMContainer> giveUpReservation;

  CoreCommits(
      CoreGuard guard,
      CoreContainers containers,
      Rounds rounds,
      ElastaneMetrics metrics,
      LoweringAtFailure lowering,
      Consumer<FiCaSchedulerApp> pendingChanged,
      Consumer<RMContainer> giveUpReservation) {
    this.guard = guard;
    this.containers = containers;
    this.rounds = rounds;
    this.metrics = metrics;
    this.lowering = lowering;
    this.pendingChanged = pendingChanged;
    this.giveUpReservation = giveUpReservation;
  }

  /** Announces a request to the core before CapacityScheduler accepts or rejects it. */
  CoreContainers.Commit before(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request, boolean updatePending) {
    long beginNs = System.nanoTime();
    CoreContainers.Commit commit =
        guard.supply(
            "commit",
            CoreContainers.Commit.OF_NOTHING,
            () -> containers.announce(request, guard.coreNumber()));
    if (commit.attempt() != null) {
      metrics.commit(System.nanoTime() - beginNs);
    }
    // Afterwards, since the core may fail in this very call.
    lowering.before(request);
    if (commit.isRefused()) {
      metrics.commitRefused();
      rounds.current().refuse(commit.attempt());
      if (updatePending) {
        // CapacityScheduler added the amount when it proposed the container; a rejected proposal
        // takes it back.
        commit.attempt().decUnconfirmedRes(request.getTotalAllocatedResource());
      }
      RMContainer reserved = commit.refusedReservation();
      if (reserved != null) {
        // Otherwise CapacityScheduler would offer the node to nobody else.
        guard.run("reservation given up", () -> giveUpReservation.accept(reserved));
      }
    }
    return commit;
  }

  void after(
      ResourceCommitRequest<FiCaSchedulerApp, FiCaSchedulerNode> request,
      CoreContainers.Commit commit,
      boolean committed) {
    if (committed && !commit.isKnownTo(guard.coreNumber())) {
      // No core was in service at the announcement, or another one than now.
      guard.run("commit", () -> containers.committed(request));
    }
    if (commit.attempt() == null) {
      return;
    }
    if (!committed) {
      guard.run("commit refused elsewhere", () -> containers.takeBack(commit));
    } else if (request instanceof Rounds.OrderedCommitRequest) {
      metrics.placedByCore();
    }
    pendingChanged.accept(commit.attempt());
  }
}
