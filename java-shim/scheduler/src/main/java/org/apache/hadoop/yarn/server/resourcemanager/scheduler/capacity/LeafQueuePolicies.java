package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.OrderingPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replaces CapacityScheduler's two ordering policies by Elastane's on the live leaf queues.
 *
 * <p>Runs again after every refresh of the queues, which gives each leaf queue a new policy from
 * the configuration. The configuration itself is not changed: a configuration store might write it
 * back.
 */
final class LeafQueuePolicies {
  private static final Logger LOG = LoggerFactory.getLogger(LeafQueuePolicies.class);

  private final Function<String, QueueOrder> orders;
  private final Class<?> leafQueueClass;
  private final MethodHandle getPolicy;
  private final MethodHandle setPolicy;
  private final Set<String> ours = ConcurrentHashMap.newKeySet();
  private final ConcurrentMap<String, String> foreign = new ConcurrentSkipListMap<>();
  private final SaidOnce foreignLogged = new SaidOnce();

  /**
   * @param orders makes the order of a queue, of which it gets the path
   */
  LeafQueuePolicies(Function<String, QueueOrder> orders) {
    this.orders = orders;
    // Hadoop 3.3 declares both methods in LeafQueue, 3.4 and later in its superclass. A direct call
    // would bind this class to one of the two.
    leafQueueClass = declaringClass();
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      getPolicy =
          lookup
              .findVirtual(
                  leafQueueClass, "getOrderingPolicy", MethodType.methodType(OrderingPolicy.class))
              .asType(MethodType.methodType(OrderingPolicy.class, CSQueue.class));
      setPolicy =
          lookup
              .findVirtual(
                  leafQueueClass,
                  "setOrderingPolicy",
                  MethodType.methodType(void.class, OrderingPolicy.class))
              .asType(MethodType.methodType(void.class, CSQueue.class, OrderingPolicy.class));
    } catch (ReflectiveOperationException e) {
      throw unsupported(e);
    }
  }

  /** Installs Elastane's policy on each leaf queue. The caller holds the scheduler's write lock. */
  void install(Collection<CSQueue> queues) {
    // Other threads ask meanwhile; a queue that stays must be known all the time.
    queues.forEach(this::install);
    retain(queues);
  }

  /** Installs Elastane's policy on one queue; does nothing if that is no leaf. */
  void install(CSQueue queue) {
    if (!leafQueueClass.isInstance(queue)) {
      return;
    }
    OrderingPolicy<FiCaSchedulerApp> policy = policyOf(queue);
    OrderingPolicy<FiCaSchedulerApp> replacement = replacementOf(policy, queue.getQueuePath());
    if (replacement != null) {
      setPolicyOf(queue, replacement);
      isOursNow(queue);
    } else if (isOurs(policy)) {
      isOursNow(queue);
    } else {
      foreign.put(queue.getQueuePath(), policy.getClass().getName());
      ours.remove(queue.getQueuePath());
      if (foreignLogged.isFirst(queue.getQueuePath() + ' ' + policy.getClass().getName())) {
        LOG.warn(
            "queue {}: ordering policy {} is not Elastane's; its applications are placed by"
                + " CapacityScheduler, and no node is raised above its registered size",
            queue.getQueuePath(),
            policy.getClass().getName());
      }
    }
  }

  private void isOursNow(CSQueue queue) {
    ours.add(queue.getQueuePath());
    foreign.remove(queue.getQueuePath());
  }

  /** Forgets every queue: each is to keep the policy that CapacityScheduler gives it. */
  void forget() {
    ours.clear();
    foreign.clear();
  }

  /** Forgets every queue but these. */
  void retain(Collection<CSQueue> queues) {
    Set<String> paths = queues.stream().map(CSQueue::getQueuePath).collect(Collectors.toSet());
    ours.retainAll(paths);
    foreign.keySet().retainAll(paths);
  }

  /**
   * Each attempt that a queue with one of Elastane's ordering policies may schedule, also where the
   * policy only was left there.
   */
  void forEachSchedulable(
      Collection<CSQueue> queues, BiConsumer<QueueOrder, FiCaSchedulerApp> action) {
    for (CSQueue queue : queues) {
      OrderingPolicy<FiCaSchedulerApp> policy =
          leafQueueClass.isInstance(queue) ? policyOf(queue) : null;
      if (policy != null && isOurs(policy)) {
        QueueOrder order = ((OrderedByCore) policy).order();
        policy.getSchedulableEntities().forEach(attempt -> action.accept(order, attempt));
      }
    }
  }

  /** A leaf queue with an ordering policy that is not Elastane's, in words; null for none. */
  String foreignQueue() {
    for (Map.Entry<String, String> queue : foreign.entrySet()) {
      return "queue " + queue.getKey() + " has the ordering policy " + queue.getValue();
    }
    return null;
  }

  /** Whether this queue has one of Elastane's ordering policies. */
  boolean isOurs(String queuePath) {
    return ours.contains(queuePath);
  }

  int count() {
    return ours.size();
  }

  private OrderingPolicy<FiCaSchedulerApp> replacementOf(
      OrderingPolicy<FiCaSchedulerApp> policy, String queuePath) {
    // These classes only: an administrator who configures a subclass wants its order.
    if (policy.getClass() == FifoOrderingPolicy.class) {
      return new ElastaneFifoOrderingPolicy(orders.apply(queuePath));
    }
    if (policy.getClass() == FairOrderingPolicy.class) {
      return new ElastaneFairOrderingPolicy(
          orders.apply(queuePath), (FairOrderingPolicy<?>) policy);
    }
    return null;
  }

  private static boolean isOurs(OrderingPolicy<FiCaSchedulerApp> policy) {
    return policy instanceof OrderedByCore;
  }

  /** The ordering policy of a leaf queue, in every supported version of Hadoop. */
  @SuppressWarnings("unchecked") // what getOrderingPolicy declares
  OrderingPolicy<FiCaSchedulerApp> policyOf(CSQueue queue) {
    try {
      return (OrderingPolicy<FiCaSchedulerApp>) getPolicy.invoke(queue);
    } catch (Throwable t) {
      throw failed("getOrderingPolicy", queue, t);
    }
  }

  private void setPolicyOf(CSQueue queue, OrderingPolicy<FiCaSchedulerApp> policy) {
    try {
      setPolicy.invoke(queue, policy);
    } catch (Throwable t) {
      throw failed("setOrderingPolicy", queue, t);
    }
  }

  private static Class<?> declaringClass() {
    for (Class<?> c = LeafQueue.class; c != null; c = c.getSuperclass()) {
      try {
        return c.getDeclaredMethod("setOrderingPolicy", OrderingPolicy.class).getDeclaringClass();
      } catch (NoSuchMethodException e) {
        // the superclass may declare it
      }
    }
    throw unsupported(null);
  }

  private static IllegalStateException failed(String method, CSQueue queue, Throwable cause) {
    return new IllegalStateException(method + " of " + queue.getQueuePath(), cause);
  }

  private static YarnRuntimeException unsupported(Throwable cause) {
    return new YarnRuntimeException(
        "LeafQueue has no setOrderingPolicy(OrderingPolicy) in this version of Hadoop, so Elastane"
            + " cannot order applications; use Hadoop 3.3 to 3.5",
        cause);
  }
}
