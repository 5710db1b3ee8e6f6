package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.conf.ElastaneConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which queues and nodes the settings name that are not there. They may come later, so that is
 * no error; but a name with a slip of the pen would act nowhere, and nobody would know.
 */
final class UnknownNames {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownNames.class);
  private static final String[] BY_QUEUE = {
    ElastaneConfiguration.MODE + ".queue.", ElastaneConfiguration.MAX_RATIO + ".queue.",
  };

  private UnknownNames() {}

  static void warn(CapacityScheduler scheduler, Configuration conf) {
    Set<String> queues = new HashSet<>();
    scheduler
        .getCapacitySchedulerQueueManager()
        .getQueues()
        .values()
        .forEach(queue -> queues.add(queue.getQueuePath()));
    for (String prefix : BY_QUEUE) {
      for (String path : conf.getPropsWithPrefix(prefix).keySet()) {
        if (!queues.contains(path)) {
          LOG.warn("{}{} acts nowhere: there is no queue {} now", prefix, path, path);
        }
      }
    }
    Set<String> nodes = new HashSet<>();
    for (FiCaSchedulerNode node : scheduler.getAllNodes()) {
      NodeId id = node.getNodeID();
      nodes.add(id.getHost().toLowerCase(Locale.ROOT));
      nodes.add(id.toString().toLowerCase(Locale.ROOT));
    }
    // A ResourceManager that starts has none yet.
    if (!nodes.isEmpty()) {
      for (String name : conf.getTrimmedStrings(ElastaneConfiguration.ENFORCED_NODES)) {
        if (!nodes.contains(name.toLowerCase(Locale.ROOT))) {
          LOG.warn(
              "{} names {}, and no such node is registered now",
              ElastaneConfiguration.ENFORCED_NODES,
              name);
        }
      }
    }
  }
}
