package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Set;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.ResourceCalculator;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * The limit that keeps CapacityScheduler from starting an application's next container: of a queue
 * or user, with its amounts on the nodes with the label that it requests; or of the places where it
 * may run.
 */
final class LimitWords {
  private final CSQueue leaf;
  private final ResourceCalculator calculator;
  private final Resource cluster;
  private final Resource next;
  private final String label;
  private final String onNodes;

  private LimitWords(CapacityScheduler scheduler, CSQueue leaf, PendingAsks asks) {
    this.leaf = leaf;
    calculator = scheduler.getResourceCalculator();
    cluster = scheduler.getClusterResource();
    next = Resource.newInstance(asks.getMemoryMib(), asks.getVirtualCores());
    label = asks.getLabel();
    onNodes = isLabelled() ? " on nodes with label '" + label + "'" : "";
  }

  /** Those of the request that is served next. */
  static String of(CapacityScheduler scheduler, FiCaSchedulerApp attempt, CSQueue leaf) {
    return of(scheduler, attempt, leaf, null);
  }

  /**
   * Null if the next container fits every limit. Looks at all nodes.
   *
   * @param leaf the application's queue
   * @param requestPriority of the container's request; null for the one that is served next
   */
  static String of(
      CapacityScheduler scheduler,
      FiCaSchedulerApp attempt,
      CSQueue leaf,
      Integer requestPriority) {
    PendingAsks asks = PendingAsks.of(attempt);
    if (asks.getCount() == 0) {
      return null;
    }
    // What no room would change is said first.
    String never = PlaceWords.never(scheduler, attempt, requestPriority);
    if (never != null) {
      return never;
    }
    if (requestPriority != null && requestPriority != asks.getRequestPriority()) {
      // The limits below are those of the request that is served next.
      return PlaceWords.now(scheduler, attempt, requestPriority);
    }
    String limit = ofQueueOrUser(scheduler, attempt.getUser(), leaf, asks);
    return limit == null ? PlaceWords.now(scheduler, attempt, requestPriority) : limit;
  }

  /**
   * Null if neither a queue nor the user holds the next container back. Looks at no node.
   *
   * @param asks not empty
   */
  static String ofQueueOrUser(
      CapacityScheduler scheduler, String user, CSQueue leaf, PendingAsks asks) {
    LimitWords words = new LimitWords(scheduler, leaf, asks);
    String ofQueue = words.ofQueue();
    return ofQueue == null ? words.ofUser(user) : ofQueue;
  }

  /** Null if CapacityScheduler does not hold the user back, or the attempt asks for nothing. */
  static String ofUser(CapacityScheduler scheduler, FiCaSchedulerApp attempt, CSQueue leaf) {
    PendingAsks asks = PendingAsks.of(attempt);
    return asks.getCount() == 0
        ? null
        : new LimitWords(scheduler, leaf, asks).ofUser(attempt.getUser());
  }

  private String ofQueue() {
    CSQueue full = null;
    CSQueue withoutAccess = null;
    // The highest one: where the cluster is full, no queue below is to blame.
    for (CSQueue queue = leaf; queue != null; queue = queue.getParent()) {
      if (!Resources.fitsIn(calculator, Resources.add(usedBy(queue), next), mostOf(queue))) {
        full = queue;
      }
      if (!mayUseLabel(queue)) {
        withoutAccess = queue;
      }
    }
    if (withoutAccess != null) {
      return String.format(
          "queue %s has no access to nodes with label '%s', which the next container requests",
          withoutAccess.getQueuePath(), label);
    }
    if (full == null) {
      return null;
    }
    if (isLabelled() && full.getParent() == null && Resources.isNone(mostOf(full))) {
      return String.format("no node has the label '%s', which the next container requests", label);
    }
    return String.format(
        "queue %s has %s of at most %s%s, and the next container requests %s",
        full.getQueuePath(), usedBy(full), mostOf(full), onNodes, next);
  }

  /** As CapacityScheduler counts it: a user passes the limit by one container. */
  private String ofUser(String name) {
    UsersManager users = (UsersManager) leaf.getAbstractUsersManager();
    UsersManager.User user = users.getUser(name);
    if (user == null) {
      return null;
    }
    Resource used = user.getUsed(label);
    Resource most =
        users.getComputedResourceLimitForActiveUsers(
            name, cluster, label, SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
    return Resources.greaterThan(calculator, cluster, used, most)
        ? String.format(
            "user %s has %s of at most %s in queue %s%s, and the next container requests %s",
            name, used, most, leaf.getQueuePath(), onNodes, next)
        : null;
  }

  private boolean mayUseLabel(CSQueue queue) {
    Set<String> labels = queue.getAccessibleNodeLabels();
    return !isLabelled()
        || (labels != null && (labels.contains(label) || labels.contains(RMNodeLabelsManager.ANY)));
  }

  private Resource usedBy(CSQueue queue) {
    return queue.getQueueResourceUsage().getUsed(label);
  }

  private Resource mostOf(CSQueue queue) {
    return queue.getQueueResourceQuotas().getEffectiveMaxResource(label);
  }

  private boolean isLabelled() {
    return !label.equals(RMNodeLabelsManager.NO_LABEL);
  }
}
