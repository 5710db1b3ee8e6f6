package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.util.resource.Resources;

/** No container is lost or counted twice: not by nodes, queues or users, and not by the core. */
final class ClusterInvariants {
  private final CapacityScheduler scheduler;
  private final Map<ContainerId, RMContainer> live = new HashMap<>();

  private ClusterInvariants(CapacityScheduler scheduler) {
    this.scheduler = scheduler;
  }

  /** Checks what CapacityScheduler books. */
  static void check(CapacityScheduler scheduler) {
    ClusterInvariants invariants = new ClusterInvariants(scheduler);
    invariants.applications();
    invariants.nodes();
    invariants.queue(scheduler.getRootQueue());
  }

  private void applications() {
    for (FiCaSchedulerApp attempt : attempts(scheduler).values()) {
      for (RMContainer container : attempt.getLiveContainers()) {
        ContainerId id = container.getContainerId();
        assertEquals(null, live.put(id, container), id + " is live twice");
        FiCaSchedulerNode node = scheduler.getNode(container.getAllocatedNode());
        assertTrue(
            node != null && node.getCopiedListOfRunningContainers().contains(container),
            id + " is live and on no node");
      }
    }
  }

  private void nodes() {
    Set<ContainerId> seen = new HashSet<>();
    Resource cluster = Resource.newInstance(0, 0);
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      Resource allocated = Resource.newInstance(0, 0);
      int count = 0;
      for (RMContainer container : node.getCopiedListOfRunningContainers()) {
        ContainerId id = container.getContainerId();
        assertTrue(seen.add(id), id + " is on two nodes");
        assertEquals(node.getNodeID(), container.getAllocatedNode());
        // Released, and the NodeManager has not ended it yet.
        boolean ends = CoreContainers.hasEnded(container);
        assertTrue(live.containsKey(id) || ends, id + " is on a node and of no application");
        if (container.getExecutionType() == ExecutionType.GUARANTEED) {
          Resources.addTo(allocated, container.getContainer().getResource());
          count++;
        }
      }
      assertEquals(allocated, node.getAllocatedResource(), node.getNodeID() + " has allocated");
      assertEquals(count, node.getNumContainers(), node.getNodeID() + " has containers");
      assertEquals(
          node.getTotalResource(),
          Resources.add(allocated, node.getUnallocatedResource()),
          node.getNodeID() + " has in total");
      Resources.addTo(cluster, node.getTotalResource());
    }
    assertEquals(cluster, scheduler.getClusterResource(), "the cluster");
  }

  /** What a queue uses, with all below it. Reservations count as used. */
  private Resource queue(CSQueue queue) {
    Resource used = Resource.newInstance(0, 0);
    if (queue.getChildQueues() != null) {
      for (CSQueue child : queue.getChildQueues()) {
        Resources.addTo(used, queue(child));
      }
    } else {
      Map<String, Resource> byUser = new TreeMap<>();
      for (FiCaSchedulerApp attempt : ((LeafQueue) queue).getAllApplications()) {
        Resource ofUser =
            byUser.computeIfAbsent(attempt.getUser(), any -> Resource.newInstance(0, 0));
        for (RMContainer container : attempt.getLiveContainers()) {
          if (container.getExecutionType() == ExecutionType.GUARANTEED) {
            Resources.addTo(ofUser, container.getContainer().getResource());
          }
        }
        for (RMContainer reserved : attempt.getReservedContainers()) {
          Resources.addTo(ofUser, reserved.getReservedResource());
        }
      }
      byUser.forEach(
          (user, ofUser) -> {
            assertEquals(
                ofUser,
                ((LeafQueue) queue).getUser(user).getUsed(),
                user + " uses of " + queue.getQueuePath());
            Resources.addTo(used, ofUser);
          });
    }
    assertEquals(used, queue.getUsedResources(), queue.getQueuePath() + " uses");
    return used;
  }

  /** The core's nodes and bookings are the scheduler's, and what it knows of waiting ones. */
  static void checkCore(TestCluster cluster) throws Exception {
    JsonNode status = cluster.coreStatus();
    String mode = status.get("mode").asText();
    Map<String, String> schedulers = new TreeMap<>();
    for (FiCaSchedulerNode node : cluster.capacityScheduler().getAllNodes()) {
      Resource booked = Resource.newInstance(0, 0);
      int count = 0;
      for (RMContainer container : node.getCopiedListOfRunningContainers()) {
        if (container.getExecutionType() == ExecutionType.GUARANTEED
            && !CoreContainers.hasEnded(container)) {
          Resources.addTo(booked, container.getContainer().getResource());
          count++;
        }
      }
      Resource registered = node.getRMNode().getTotalCapability();
      schedulers.put(node.getNodeID().toString(), describe(count, booked, registered));
    }
    for (FiCaSchedulerApp attempt : attempts(cluster.capacityScheduler()).values()) {
      // In mode enforce, one that its queue has not activated does not count.
      boolean counts =
          mode.equals("observe")
              || ((LeafQueue) attempt.getQueue()).getApplications().contains(attempt);
      int pending = counts ? PendingAsks.of(attempt).getCount() : 0;
      if (pending > 0) {
        schedulers.put(attempt.getApplicationId().toString(), "waits for " + pending);
      }
    }
    Map<String, String> cores = new TreeMap<>();
    for (JsonNode node : status.get("nodes")) {
      cores.put(
          node.get("node").asText(),
          describe(
              node.get("containers").asInt(), amount(node, "booked"), amount(node, "registered")));
    }
    for (JsonNode waiting : status.get("waiting")) {
      cores.put(
          waiting.get("application").asText(), "waits for " + waiting.get("containers").asInt());
    }
    assertSame(schedulers, cores, "the scheduler's and the core's bookings");
  }

  /** Names only what differs. */
  static void assertSame(Map<String, String> expected, Map<String, String> actual, String what) {
    Map<String, String> missing = new TreeMap<>(expected);
    missing.entrySet().removeAll(actual.entrySet());
    Map<String, String> unexpected = new TreeMap<>(actual);
    unexpected.entrySet().removeAll(expected.entrySet());
    assertEquals(missing, unexpected, what);
  }

  private static String describe(int containers, Resource booked, Resource registered) {
    return containers + " containers of " + booked + " on " + registered;
  }

  private static Resource amount(JsonNode node, String what) {
    return Resource.newInstance(
        node.get(what + "_memory_bytes").asLong() >> 20, node.get(what + "_vcores").asInt());
  }

  /** The current attempts, by application. */
  static Map<String, FiCaSchedulerApp> attempts(CapacityScheduler scheduler) {
    Map<String, FiCaSchedulerApp> attempts = new TreeMap<>();
    for (SchedulerApplication<FiCaSchedulerApp> application :
        scheduler.getSchedulerApplications().values()) {
      FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
      if (attempt != null && !attempt.isStopped()) {
        attempts.put(attempt.getApplicationId().toString(), attempt);
      }
    }
    return attempts;
  }
}
