package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * What was logged once for each of many names. The oldest of more than 1,000 names are forgotten,
 * since queues and nodes may come and go for ever.
 */
final class SaidOnce {
  static final int REMEMBERED = 1000;

  private final Set<String> names = new LinkedHashSet<>();

  /** Whether it was not said for this name yet. */
  synchronized boolean isFirst(Object name) {
    boolean first = names.add(name.toString());
    if (names.size() > REMEMBERED) {
      Iterator<String> oldest = names.iterator();
      oldest.next();
      oldest.remove();
    }
    return first;
  }
}
