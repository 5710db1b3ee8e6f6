package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.List;
import java.util.Locale;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;

/** What applications wait for while {@link SchedulerBenchmark} sends heartbeats. */
enum WaitingCase {
  /** The first application of each queue fits every node, the others none. */
  FIRST_FITS,
  /**
   * Each container is larger than any node that sends heartbeats, also if raised. CapacityScheduler
   * would reserve a node for a container that fits the node when it is empty, and then consider no
   * other application there.
   */
  NONE_FITS,
  /** All fit every node. */
  MANY_FIT,
  /** All would fit, but their user has what it may have of each queue. */
  USER_LIMITS_REACHED,
  /** Each waits for one node and takes no other; every node is waited for. */
  STRICT_LOCALITY;

  static final int REQUEST_PRIORITY = 1;

  /** More than are ever placed. */
  private static final int COUNT = 1_000_000;

  private static final Resource SMALL = Resource.newInstance(1024, 1);
  private static final Resource LARGER_THAN_A_RAISED_NODE = Resource.newInstance(100 * 1024, 1);

  static WaitingCase named(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether each heartbeat places one container. */
  boolean places() {
    return this == FIRST_FITS || this == MANY_FIT || this == STRICT_LOCALITY;
  }

  boolean hasUserLimit() {
    return this == USER_LIMITS_REACHED;
  }

  Resource size(boolean isFirstOfItsQueue) {
    boolean isLarge = this == NONE_FITS || (this == FIRST_FITS && !isFirstOfItsQueue);
    return isLarge ? LARGER_THAN_A_RAISED_NODE : SMALL;
  }

  /**
   * @param node the name of the node that the application waits for if it waits for one
   */
  List<ResourceRequest> asks(boolean isFirstOfItsQueue, String node) {
    Resource size = size(isFirstOfItsQueue);
    if (this != STRICT_LOCALITY) {
      return List.of(ask(ResourceRequest.ANY, size, true));
    }
    return List.of(
        ask(NetworkTopology.DEFAULT_RACK, size, false),
        ask(ResourceRequest.ANY, size, false),
        ask(node, size, true));
  }

  private static ResourceRequest ask(String place, Resource size, boolean isRelaxed) {
    return ResourceRequest.newInstance(
        Priority.newInstance(REQUEST_PRIORITY), place, size, COUNT, isRelaxed);
  }
}
