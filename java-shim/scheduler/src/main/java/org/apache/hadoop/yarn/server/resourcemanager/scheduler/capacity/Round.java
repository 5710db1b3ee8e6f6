package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.natives.Natives;

/**
 * One attempt of one thread to place a container on a node. The core is asked once, when the first
 * leaf queue needs its order, and once more if a queue skipped all that the core named, or if one
 * queue is served in the core's order and another in its own.
 */
final class Round {
  private final Rounds rounds;
  private final CoreNodes nodes;
  private final CoreApplications applications;
  private final Map<QueueOrder, List<FiCaSchedulerApp>> best = new HashMap<>();
  private final Set<FiCaSchedulerApp> leftOut = new HashSet<>();
  private final Set<FiCaSchedulerApp> skipped = new LinkedHashSet<>();
  private boolean begun;
  private FiCaSchedulerNode node;
  private Answer answer = Answer.NOT_ASKED;
  private boolean isBestKnown;
  private int[] fitting;
  private int[] rest;
  private FiCaSchedulerApp lastOffered;
  private FiCaSchedulerApp refused;

  Round(Rounds rounds, CoreNodes nodes, CoreApplications applications) {
    this.rounds = rounds;
    this.nodes = nodes;
    this.applications = applications;
  }

  /** A heartbeat begins, which may have several rounds. */
  void beginHeartbeat() {
    leftOut.clear();
  }

  /**
   * @param nodeToFill null if CapacityScheduler's order applies
   * @param withinHeartbeat whether {@link #beginHeartbeat} was called
   */
  void begin(FiCaSchedulerNode nodeToFill, boolean withinHeartbeat) {
    if (!withinHeartbeat) {
      leftOut.clear();
    }
    begun = true;
    node = nodeToFill;
    answer = Answer.NOT_ASKED;
  }

  void end() {
    begun = false;
    node = null;
    best.clear();
    isBestKnown = false;
    skipped.clear();
    fitting = null;
    rest = null;
    lastOffered = null;
    refused = null;
  }

  boolean isActive() {
    return node != null;
  }

  /** The core refused a commit of this round; the same proposal would be refused again. */
  void refuse(FiCaSchedulerApp attempt) {
    if (begun) {
      refused = attempt;
    }
  }

  boolean isRefused() {
    return refused != null;
  }

  /**
   * Leaves the refused attempt out until the heartbeat ends, so that the node can be offered to the
   * others.
   *
   * @return false if that changes nothing: this round's order did not lead to the proposal
   */
  boolean leaveOutRefused() {
    FiCaSchedulerApp attempt = refused;
    refused = null;
    return wasOffered(attempt) && leftOut.add(attempt);
  }

  boolean isLeftOut(FiCaSchedulerApp attempt) {
    return leftOut.contains(attempt);
  }

  /** A leaf queue tries to place a container of this attempt. */
  void offered(FiCaSchedulerApp attempt) {
    lastOffered = attempt;
    skipped.remove(attempt);
  }

  /** A leaf queue placed nothing of this attempt, and went on. */
  void skipped(FiCaSchedulerApp attempt) {
    skipped.add(attempt);
  }

  /** Whether the user of an attempt may have nothing more in its queue on this node. */
  boolean isUserAtLimit(QueueOrder queue, FiCaSchedulerApp attempt) {
    return rounds.isUserAtLimit(node, queue, attempt);
  }

  /** Tells the core which applications it named in vain. */
  void tellSkipped() {
    NodeRecord record = skipped.isEmpty() ? null : nodes.find(node.getNodeID());
    if (record == null) {
      return;
    }
    int[] numbers = new int[skipped.size()];
    int count = 0;
    for (FiCaSchedulerApp attempt : skipped) {
      ApplicationRecord application = applications.find(attempt.getApplicationId());
      if (application != null) {
        numbers[count++] = application.number;
      }
    }
    rounds.namedInVain(record, Arrays.copyOf(numbers, count));
  }

  /**
   * The applications of a queue that the core offers this node to, the best first; null for the
   * base order.
   */
  List<FiCaSchedulerApp> best(QueueOrder queue) {
    if (!isBestKnown && answer != Answer.CAPACITY_SCHEDULER) {
      isBestKnown = true;
      int[] numbers = ask(Natives.NAME_BEST);
      for (int number : numbers == null ? Rounds.NOBODY : numbers) {
        ApplicationRecord application = applications.find(number);
        ApplicationRecord.Entry entry = application == null ? null : application.entry();
        if (entry != null) {
          best.computeIfAbsent(entry.queue, any -> new ArrayList<>()).add(entry.attempt);
        }
      }
    }
    if (answer == Answer.CAPACITY_SCHEDULER) {
      return null;
    }
    return best.getOrDefault(queue, Collections.emptyList());
  }

  /** The applications that may follow the best ones of their queues. */
  Predicate<FiCaSchedulerApp> rest() {
    if (rest == null) {
      rest = Rounds.NOBODY;
      int[] numbers = rounds.ask(node, Natives.NAME_REST);
      rest = numbers == null ? Rounds.NOBODY : numbers;
    }
    return among(rest);
  }

  /** The applications that fit this node; null for the base order of all. */
  Predicate<FiCaSchedulerApp> fitting() {
    if (fitting == null && answer != Answer.CAPACITY_SCHEDULER) {
      int[] numbers = ask(Natives.NAME_FITTING);
      fitting = numbers == null ? Rounds.NOBODY : numbers;
    }
    return answer == Answer.CAPACITY_SCHEDULER ? null : among(fitting);
  }

  /**
   * The applications for which CapacityScheduler may kill containers that it has marked on this
   * node (lazy preemption); null if it has marked none, or the base order applies. The core's plan
   * has these containers until they end, so the core names nobody who would take their place.
   */
  Predicate<FiCaSchedulerApp> mayKill() {
    if (node.getKillableContainers().isEmpty() || fitting() == null) {
      return null;
    }
    NodeRecord record = nodes.find(node.getNodeID());
    if (record == null || !record.isRaised()) {
      return any -> true;
    }
    Resource free = rounds.free(node);
    return attempt -> PendingAsks.of(attempt).fitInto(free);
  }

  private int[] ask(int named) {
    // Set first: a core that fails here is not asked again.
    answer = Answer.CAPACITY_SCHEDULER;
    int[] numbers = rounds.ask(node, named);
    answer = numbers == null ? Answer.CAPACITY_SCHEDULER : Answer.CORE;
    return numbers;
  }

  private Predicate<FiCaSchedulerApp> among(int[] numbers) {
    return attempt -> {
      ApplicationRecord application = applications.find(attempt.getApplicationId());
      return application != null && Arrays.binarySearch(numbers, application.number) >= 0;
    };
  }

  boolean wasOffered(FiCaSchedulerApp attempt) {
    return isActive() && answer == Answer.CORE && attempt.equals(lastOffered);
  }

  private enum Answer {
    NOT_ASKED,
    CORE,
    CAPACITY_SCHEDULER
  }
}
