package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.conf.ElastaneConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says which queues, node labels and nodes the settings name that are not there. They may come
 * later, so that is no error; but a name with a slip of the pen would act nowhere, and nobody would
 * know.
 */
final class UnknownNames {
  private static final Logger LOG = LoggerFactory.getLogger(UnknownNames.class);
  private static final String[] BY_QUEUE = {
    ElastaneConfiguration.MODE + ".queue.", ElastaneConfiguration.MAX_RATIO + ".queue.",
  };
  private static final String[] BY_LABEL = {
    ElastaneConfiguration.MODE + ".label.", ElastaneConfiguration.MAX_RATIO + ".label.",
  };

  private UnknownNames() {}

  static void warn(CapacityScheduler scheduler, Configuration conf) {
    Set<String> queues = new HashSet<>();
    scheduler
        .getCapacitySchedulerQueueManager()
        .getQueues()
        .values()
        .forEach(queue -> queues.add(queue.getQueuePath()));
    warn(conf, BY_QUEUE, "queue", queues);
    RMNodeLabelsManager labels = scheduler.getRMContext().getNodeLabelManager();
    if (labels != null) {
      warn(conf, BY_LABEL, "node label", labels.getClusterNodeLabelNames());
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

  private static void warn(Configuration conf, String[] prefixes, String what, Set<String> known) {
    for (String prefix : prefixes) {
      for (String name : conf.getPropsWithPrefix(prefix).keySet()) {
        if (!known.contains(name)) {
          LOG.warn("{}{} acts nowhere: there is no {} {} now", prefix, name, what, name);
        }
      }
    }
  }
}
