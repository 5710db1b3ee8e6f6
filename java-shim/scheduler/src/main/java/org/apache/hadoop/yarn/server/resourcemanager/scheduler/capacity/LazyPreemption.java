package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;

/**
 * Containers that the preemption monitor has marked, which CapacityScheduler kills when it needs
 * their room. It ends them without the hook that tells the core.
 */
final class LazyPreemption {
  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreNodes nodes;
  private final CoreContainers containers;
  private final Set<RMContainer> marked = ConcurrentHashMap.newKeySet();

  LazyPreemption(
      ElastaneScheduler scheduler, CoreGuard guard, CoreNodes nodes, CoreContainers containers) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.nodes = nodes;
    this.containers = containers;
  }

  /**
   * Ends a container on a raised node at once, as without lazy preemption: CapacityScheduler sees
   * room there, and would kill nothing.
   *
   * @return whether it was ended
   */
  boolean endsAtOnce(RMContainer container) {
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

  /** CapacityScheduler may kill this container from now on. */
  void marked(RMContainer container) {
    marked.add(container);
  }

  /** Tells the core which marked containers have ended. */
  void tellEnded() {
    if (marked.isEmpty()) {
      return;
    }
    for (Iterator<RMContainer> left = marked.iterator(); left.hasNext(); ) {
      RMContainer container = left.next();
      if (CoreContainers.hasEnded(container)) {
        left.remove();
        guard.run("container completed", () -> containers.finished(container));
      }
    }
  }
}
