package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.hadoop.conf.Configuration;

/**
 * The names of profiles that queues share among their users. They are properties of the queue, as
 * its capacity is, so that whoever may change the queue may change them.
 */
final class SharedProfiles {
  static final String NAMES = "elastane.shared-profiles";

  private final Supplier<? extends Configuration> configuration;

  /** The configuration is asked at each submission: a refresh replaces it. */
  SharedProfiles(Supplier<? extends Configuration> configuration) {
    this.configuration = configuration;
  }

  /** What a queue and those above it share, the innermost one first. */
  List<Map<String, Object>> of(String queue) {
    Configuration conf = configuration.get();
    List<Map<String, Object>> all = new ArrayList<>();
    for (String path = queue; !path.isEmpty(); path = parentOf(path)) {
      Collection<String> names = conf.getTrimmedStringCollection(key(path));
      if (!names.isEmpty()) {
        Map<String, Object> shared = new LinkedHashMap<>();
        shared.put("queue", path);
        shared.put("names", names);
        all.add(shared);
      }
    }
    return all;
  }

  static String key(String queue) {
    return CapacitySchedulerConfiguration.PREFIX + queue + "." + NAMES;
  }

  private static String parentOf(String queue) {
    return queue.substring(0, Math.max(0, queue.lastIndexOf('.')));
  }
}
