package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * One attempt of one thread to place a container on a node. The core is asked when the first leaf
 * queue wants its order, and once only.
 */
final class Round {
  private enum Answer {
    NOT_ASKED,
    CORE,
    CAPACITY_SCHEDULER
  }

  private final Rounds rounds;
  private final Map<QueueOrder, List<FiCaSchedulerApp>> best = new HashMap<>();
  private FiCaSchedulerNode node;
  private Answer answer = Answer.NOT_ASKED;
  private boolean refused;

  Round(Rounds rounds) {
    this.rounds = rounds;
  }

  void begin(FiCaSchedulerNode nodeToFill) {
    node = nodeToFill;
    answer = Answer.NOT_ASKED;
    refused = false;
  }

  void end() {
    node = null;
    if (answer == Answer.CORE) {
      best.clear();
    }
  }

  boolean isActive() {
    return node != null;
  }

  /** A commit of this round was refused by the core: another try would end alike. */
  void refuse() {
    refused = true;
  }

  boolean isRefused() {
    return refused;
  }

  /** What the core offers this node to in a queue, the best first; null for the base order. */
  List<FiCaSchedulerApp> best(QueueOrder queue) {
    if (answer == Answer.NOT_ASKED) {
      // Also when the core fails here: it is not asked twice.
      answer = Answer.CAPACITY_SCHEDULER;
      answer = rounds.ask(node, best) ? Answer.CORE : Answer.CAPACITY_SCHEDULER;
    }
    if (answer == Answer.CAPACITY_SCHEDULER) {
      return null;
    }
    return best.getOrDefault(queue, Collections.emptyList());
  }

  /** Whether this application was offered the node by the core. */
  boolean wasOffered(FiCaSchedulerApp attempt) {
    if (isActive() && answer == Answer.CORE) {
      for (List<FiCaSchedulerApp> offered : best.values()) {
        if (offered.contains(attempt)) {
          return true;
        }
      }
    }
    return false;
  }

  /** Sorts an answer by queue. */
  static void put(
      Map<QueueOrder, List<FiCaSchedulerApp>> best, QueueOrder queue, FiCaSchedulerApp attempt) {
    best.computeIfAbsent(queue, any -> new ArrayList<>()).add(attempt);
  }
}
