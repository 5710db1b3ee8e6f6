package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ContainerExitStatus;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;

/**
 * Containers that CapacityScheduler preempts: on the order of its preemption monitor, or after a
 * node's overcommit time-out. With lazy preemption it kills a marked container when it needs the
 * room, without the hook that tells the core.
 */
final class CapacityPreemption {
  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreNodes nodes;
  private final CoreContainers containers;
  private final PreemptionRecords records;
  private final Set<RMContainer> marked = ConcurrentHashMap.newKeySet();

  CapacityPreemption(
      ElastaneScheduler scheduler,
      CoreGuard guard,
      CoreHandle core,
      CoreNodes nodes,
      CoreContainers containers) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.nodes = nodes;
    this.containers = containers;
    records = new PreemptionRecords(scheduler, guard, core);
  }

  /** The container's ApplicationMaster is told. */
  void told(RMContainer container) {
    records.told(container);
  }

  /**
   * CapacityScheduler may kill this container from now on; without lazy preemption it ends now.
   *
   * @param byCapacityScheduler its part
   */
  void mark(RMContainer container, Consumer<RMContainer> byCapacityScheduler) {
    boolean isNew = !CoreContainers.hasEnded(container) && marked.add(container);
    if (!endsAtOnce(container)) {
      byCapacityScheduler.accept(container);
    }
    if (isNew && !CoreContainers.hasEnded(container)) {
      records.killable(container);
    }
  }

  /**
   * Ends a container on a raised node at once, as without lazy preemption: CapacityScheduler sees
   * room there, and would kill nothing.
   *
   * @return whether it was ended
   */
  private boolean endsAtOnce(RMContainer container) {
    NodeRecord node = nodes.find(container.getAllocatedNode());
    if (node == null || !node.isRaised()) {
      return false;
    }
    scheduler.completedContainer(
        container,
        SchedulerUtils.createPreemptedContainerStatus(
            container.getContainerId(), SchedulerUtils.PREEMPTED_CONTAINER),
        RMContainerEventType.KILL);
    return true;
  }

  /** CapacityScheduler kills this container no more, for the room of another one. */
  void spared(RMContainer container) {
    if (marked.remove(container) && !CoreContainers.hasEnded(container)) {
      records.spared(container);
    }
  }

  /** The core's own decision ends this container. */
  void takenOver(RMContainer container) {
    marked.remove(container);
  }

  /** The hook says that a container ended. */
  void completed(RMContainer container) {
    if (marked.remove(container)) {
      recordIfPreempted(container);
    }
    records.forget(container);
  }

  /** Tells the core which marked containers have ended without the hook. */
  void tellEnded() {
    if (marked.isEmpty()) {
      return;
    }
    for (Iterator<RMContainer> left = marked.iterator(); left.hasNext(); ) {
      RMContainer container = left.next();
      if (CoreContainers.hasEnded(container) && marked.remove(container)) {
        recordIfPreempted(container);
        records.forget(container);
        guard.run("container completed", () -> containers.finished(container));
      }
    }
  }

  private void recordIfPreempted(RMContainer container) {
    if (CoreContainers.hasEnded(container)
        && container.getContainerExitStatus() == ContainerExitStatus.PREEMPTED) {
      records.preempted(container);
    }
  }
}
