package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerEventType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Preempts the containers that the core names because their nodes are short of memory, in the way
 * of CapacityScheduler's preemption monitor: the ApplicationMaster is told first, and the container
 * ends with exit status PREEMPTED, which is no failure of the application.
 *
 * <p>Calls the scheduler and sends no event. {@link PreemptionHold} would hold an event back while
 * a node holds more than its registered size, and lazy preemption would end the container only for
 * another one that is to be placed.
 */
final class MemoryPreemption {
  private static final Logger LOG = LoggerFactory.getLogger(MemoryPreemption.class);
  private final ElastaneScheduler scheduler;
  private final CoreHandle core;
  private final ElastaneMetrics metrics;

  MemoryPreemption(ElastaneScheduler scheduler, CoreHandle core, ElastaneMetrics metrics) {
    this.scheduler = scheduler;
    this.core = core;
    this.metrics = metrics;
  }

  /** Carries out the core's orders. */
  void follow() {
    String orders = core.memoryVictims(PreemptionMonitor.waitMs(scheduler.getConfiguration()));
    if (orders == null) {
      return;
    }
    for (JsonNode order : CoreJson.read("list of victims", orders)) {
      ContainerId id = ContainerId.fromString(order.get("container").asText());
      RMContainer container = scheduler.getRMContainer(id);
      if (container == null) {
        // The container has ended meanwhile; the core is told by its own event.
        continue;
      }
      String reason = order.get("reason").asText();
      if (order.get("kill").asBoolean()) {
        kill(container, reason);
      } else {
        LOG.info("{} on {} will be preempted: {}", id, container.getAllocatedNode(), reason);
        scheduler.markContainerForPreemption(id.getApplicationAttemptId(), container);
      }
    }
  }

  private void kill(RMContainer container, String reason) {
    ContainerId id = container.getContainerId();
    LOG.info("{} on {} is preempted: {}", id, container.getAllocatedNode(), reason);
    scheduler.schedulerLock().lock();
    try {
      scheduler.link().preemption().takenOver(container);
      scheduler.completedContainer(
          container,
          SchedulerUtils.createPreemptedContainerStatus(
              id, SchedulerUtils.PREEMPTED_CONTAINER + ": " + reason),
          RMContainerEventType.KILL);
    } finally {
      scheduler.schedulerLock().unlock();
    }
    metrics.memoryPreemption();
  }
}
