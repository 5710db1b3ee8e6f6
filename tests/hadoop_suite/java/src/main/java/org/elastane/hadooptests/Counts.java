package org.elastane.hadooptests;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/** Shows that the substitution took place. */
public final class Counts {
  private static final AtomicLong REWRITTEN = new AtomicLong();
  private static final AtomicLong OURS = new AtomicLong();
  private static final AtomicLong STOCK = new AtomicLong();
  private static volatile Class<?> ourClass;

  private Counts() {}

  static void rewritten(String name, int places) {
    REWRITTEN.addAndGet(places);
  }

  /** A scheduler is set up. */
  public static void setUp(Object scheduler) {
    Class<?> ours = superclassNamed(scheduler, System.getProperty(SubstitutionAgent.SCHEDULER));
    if (ours == null) {
      STOCK.incrementAndGet();
    } else {
      ourClass = ours;
      OURS.incrementAndGet();
    }
  }

  private static Class<?> superclassNamed(Object scheduler, String name) {
    Class<?> candidate = scheduler.getClass();
    while (candidate != null && !candidate.getName().equals(name)) {
      candidate = candidate.getSuperclass();
    }
    return candidate;
  }

  /** All counts since the start of the JVM, with those of the substituted class. */
  static Map<String, Object> all() {
    Map<String, Object> all = new TreeMap<>();
    all.put("rewritten_places", REWRITTEN.get());
    all.put("substituted_schedulers", OURS.get());
    all.put("stock_schedulers", STOCK.get());
    Class<?> ours = ourClass;
    if (ours != null) {
      try {
        ((Map<?, ?>) ours.getMethod("counts").invoke(null))
            .forEach((name, count) -> all.put((String) name, count));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("the substituted class has no counts", e);
      }
    }
    return all;
  }
}
