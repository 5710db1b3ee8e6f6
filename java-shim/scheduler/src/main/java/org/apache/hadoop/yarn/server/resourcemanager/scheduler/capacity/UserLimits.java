package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceLimits;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.util.resource.Resources;

/** The limits of the users of leaf queues, in every supported version of Hadoop. */
final class UserLimits {
  private final Class<?> leafQueueClass;
  private final MethodHandle getUserLimit;
  private final MethodHandle getUserLimitFactor;
  private final MethodHandle getResourceLimit;
  private final MethodHandle canAssignToUser;

  UserLimits() {
    // Hadoop 3.3 declares these methods in LeafQueue, 3.4 and later in its superclass. A direct
    // call
    // would bind this class to one of the two.
    try {
      Method limit = LeafQueue.class.getMethod("getUserLimit");
      leafQueueClass = limit.getDeclaringClass();
      getUserLimit = handle(limit);
      getUserLimitFactor = handle(LeafQueue.class.getMethod("getUserLimitFactor"));
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      MethodType resourceLimit =
          MethodType.methodType(
              Resource.class, String.class, Resource.class, String.class, SchedulingMode.class);
      getResourceLimit =
          lookup
              .findVirtual(leafQueueClass, "getResourceLimitForActiveUsers", resourceLimit)
              .asType(resourceLimit.insertParameterTypes(0, CSQueue.class));
      MethodType assignable =
          MethodType.methodType(
              boolean.class,
              Resource.class,
              String.class,
              Resource.class,
              FiCaSchedulerApp.class,
              String.class,
              ResourceLimits.class);
      canAssignToUser =
          lookup
              .findVirtual(leafQueueClass, "canAssignToUser", assignable)
              .asType(assignable.insertParameterTypes(0, CSQueue.class));
    } catch (ReflectiveOperationException e) {
      throw new YarnRuntimeException(
          "LeafQueue's methods for users' limits differ in this version of Hadoop; use Hadoop 3.3 to"
              + " 3.5",
          e);
    }
  }

  private static MethodHandle handle(Method method) throws IllegalAccessException {
    return MethodHandles.lookup()
        .unreflect(method)
        .asType(MethodType.methodType(double.class, CSQueue.class));
  }

  /** Whether the queue has users with limits. */
  boolean isLeaf(CSQueue queue) {
    return leafQueueClass.isInstance(queue);
  }

  /** The part of a leaf queue that a user gets however many others wait, in percent. */
  double minimumPercent(CSQueue queue) {
    return get(getUserLimit, queue);
  }

  /** The largest multiple of a leaf queue's capacity that a user gets; -1 for any. */
  double factor(CSQueue queue) {
    return get(getUserLimitFactor, queue);
  }

  /**
   * Whether CapacityScheduler gives the user of this attempt nothing more in its queue, on nodes
   * without a label. The answer is the same for each attempt of the user in the queue.
   */
  boolean isUserAtLimit(FiCaSchedulerApp attempt, Resource clusterResource) {
    CSQueue queue = (CSQueue) attempt.getQueue();
    String user = attempt.getUser();
    // An attempt that could give a reservation back may go beyond the limit, others of its user
    // not.
    if (!isLeaf(queue) || !Resources.isNone(queue.getQueueResourceUsage().getReserved())) {
      return false;
    }
    try {
      Resource limit =
          (Resource)
              getResourceLimit.invokeExact(
                  queue,
                  user,
                  clusterResource,
                  RMNodeLabelsManager.NO_LABEL,
                  SchedulingMode.RESPECT_PARTITION_EXCLUSIVITY);
      return !(boolean)
          canAssignToUser.invokeExact(
              queue,
              clusterResource,
              user,
              limit,
              attempt,
              RMNodeLabelsManager.NO_LABEL,
              new ResourceLimits(clusterResource));
    } catch (Throwable t) {
      throw failed(queue, t);
    }
  }

  /** A number that changes with whatever {@link #isUserAtLimit} depends on. */
  static long version(FiCaSchedulerApp attempt) {
    return ((UsersManager) attempt.getQueue().getAbstractUsersManager())
        .getLatestVersionOfUsersState();
  }

  private static double get(MethodHandle getter, CSQueue queue) {
    try {
      return (double) getter.invokeExact(queue);
    } catch (Throwable t) {
      throw failed(queue, t);
    }
  }

  private static IllegalStateException failed(CSQueue queue, Throwable cause) {
    return new IllegalStateException("the user limit of " + queue.getQueuePath(), cause);
  }
}
