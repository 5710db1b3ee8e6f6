package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainerState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/** Tells the core, for the journal, what becomes of containers that CapacityScheduler preempts. */
final class PreemptionRecords {
  private static final String SPARED = "the preemption monitor has given it up";

  private final ElastaneScheduler scheduler;
  private final CoreGuard guard;
  private final CoreHandle core;

  /** A node's overcommit time-out repeats the event with each heartbeat. */
  private final Set<RMContainer> told = ConcurrentHashMap.newKeySet();

  PreemptionRecords(ElastaneScheduler scheduler, CoreGuard guard, CoreHandle core) {
    this.scheduler = scheduler;
    this.guard = guard;
    this.core = core;
  }

  /** The container's ApplicationMaster is told; recorded once. */
  void told(RMContainer container) {
    boolean runs =
        container.getState() != RMContainerState.RESERVED && !CoreContainers.hasEnded(container);
    if (runs && told.add(container)) {
      record(container, "told");
    }
  }

  /** CapacityScheduler ends the container once another one needs its room. */
  void killable(RMContainer container) {
    record(container, "killable");
  }

  void preempted(RMContainer container) {
    record(container, "preempted");
  }

  /** The container is killable no more. */
  void spared(RMContainer container) {
    record(container, "spared");
    forget(container);
  }

  void forget(RMContainer container) {
    told.remove(container);
  }

  /** A record that cannot be made costs nothing but itself. */
  private void record(RMContainer container, String outcome) {
    String record = guard.always("record of a preemption", null, () -> inJson(container, outcome));
    if (record != null) {
      guard.run("preemption", () -> core.preempted(record));
    }
  }

  private String inJson(RMContainer container, String outcome) {
    String queue = queueOf(container);
    ObjectNode record = JsonNodeFactory.instance.objectNode();
    record.put("cause", "capacity-scheduler");
    record.put("node", container.getAllocatedNode().toString());
    record.put("container", container.getContainerId().toString());
    record.put("application", container.getApplicationAttemptId().getApplicationId().toString());
    record.put("queue", queue);
    record.put("outcome", outcome);
    record.put("reason", outcome.equals("spared") ? SPARED : reason(container, queue));
    return record.toString();
  }

  private String reason(RMContainer container, String queue) {
    FiCaSchedulerNode node = scheduler.getNode(container.getAllocatedNode());
    String who =
        node != null && node.isOvercommitTimeOutSet()
            ? "the preemption monitor, or the overcommit time-out of the node,"
            : "the preemption monitor";
    return who + " takes it" + (queue == null ? "" : " from queue " + queue);
  }

  private String queueOf(RMContainer container) {
    FiCaSchedulerApp attempt = scheduler.getApplicationAttempt(container.getApplicationAttemptId());
    return attempt != null && attempt.getQueue() instanceof CSQueue
        ? ((CSQueue) attempt.getQueue()).getQueuePath()
        : null;
  }
}
