package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import org.apache.hadoop.yarn.exceptions.YarnRuntimeException;

/** The limits of the users of leaf queues, in every supported version of Hadoop. */
final class UserLimits {
  private final Class<?> leafQueueClass;
  private final MethodHandle getUserLimit;
  private final MethodHandle getUserLimitFactor;

  UserLimits() {
    // Hadoop 3.3 declares both methods in LeafQueue, 3.4 and later in its superclass. A direct call
    // would bind this class to one of the two.
    try {
      Method limit = LeafQueue.class.getMethod("getUserLimit");
      leafQueueClass = limit.getDeclaringClass();
      getUserLimit = handle(limit);
      getUserLimitFactor = handle(LeafQueue.class.getMethod("getUserLimitFactor"));
    } catch (ReflectiveOperationException e) {
      throw new YarnRuntimeException(
          "LeafQueue has no getUserLimit() or getUserLimitFactor() in this version of Hadoop; use"
              + " Hadoop 3.3 to 3.5",
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

  private static double get(MethodHandle getter, CSQueue queue) {
    try {
      return (double) getter.invokeExact(queue);
    } catch (Throwable t) {
      throw new IllegalStateException("the user limit of " + queue.getQueuePath(), t);
    }
  }
}
