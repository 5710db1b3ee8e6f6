package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.util.resource.Resources;

/**
 * The largest size that a node registered, found when it is asked for: thousands of nodes come one
 * after the other.
 */
final class LargestRegistered {
  private final Supplier<Collection<NodeRecord>> nodes;
  private final AtomicLong changes = new AtomicLong();
  private volatile Found found = new Found(-1, null);

  LargestRegistered(Supplier<Collection<NodeRecord>> nodes) {
    this.nodes = nodes;
  }

  /** A node came, went, or has another size. */
  void changed() {
    changes.incrementAndGet();
  }

  /** In each resource; null while no node is raised. */
  Resource get() {
    long changesNow = changes.get();
    Found last = found;
    if (last.changes != changesNow) {
      last = new Found(changesNow, find());
      found = last;
    }
    return last.largest;
  }

  private Resource find() {
    boolean anyRaised = false;
    Resource largest = Resources.none();
    for (NodeRecord record : nodes.get()) {
      anyRaised |= record.isRaised();
      largest = Resources.componentwiseMax(largest, record.registered());
    }
    return anyRaised ? largest : null;
  }

  private static final class Found {
    private final long changes;
    private final Resource largest;

    private Found(long changes, Resource largest) {
      this.changes = changes;
      this.largest = largest;
    }
  }
}
