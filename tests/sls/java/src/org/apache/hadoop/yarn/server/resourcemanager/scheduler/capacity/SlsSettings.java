package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.sls.appmaster.MRAMSimulator;
import org.apache.hadoop.yarn.sls.conf.SLSConfiguration;
import org.apache.hadoop.yarn.util.resource.DominantResourceCalculator;
import org.elastane.conf.ElastaneConfiguration;

/** The settings of the ResourceManager and of SLS. `trace.json` of tests/sls fits them. */
final class SlsSettings {
  static final int CONTAINER_MIB = 2048;
  static final int CONTAINER_VCORES = 1;

  private static final int NODE_MIB = 64 * 1024;
  private static final int NODE_VCORES = 32;
  private static final String[] QUEUES = {"sls_queue_1", "sls_queue_2", "sls_queue_3"};

  private SlsSettings() {}

  static Configuration configuration(String name, Path folder, String offSwitch) {
    Configuration conf = new YarnConfiguration();
    resourceManager(conf, folder);
    queues(conf);
    conf.set(CapacitySchedulerConfiguration.OFFSWITCH_PER_HEARTBEAT_LIMIT, offSwitch);
    sls(conf);
    if (name.equals("elastane")) {
      conf.setClass(
          YarnConfiguration.RM_SCHEDULER, MeasuredElastaneScheduler.class, ResourceScheduler.class);
      elastane(conf, folder);
    } else {
      conf.setClass(
          YarnConfiguration.RM_SCHEDULER, MeasuredCapacityScheduler.class, ResourceScheduler.class);
    }
    return conf;
  }

  private static void resourceManager(Configuration conf, Path folder) {
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    conf.set("hadoop.user.group.static.mapping.overrides", "sls=sls");
    conf.set(
        YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR,
        folder.resolve("node-attribute").toUri().toString());
    for (String address :
        new String[] {
          YarnConfiguration.RM_ADDRESS,
          YarnConfiguration.RM_SCHEDULER_ADDRESS,
          YarnConfiguration.RM_RESOURCE_TRACKER_ADDRESS,
          YarnConfiguration.RM_ADMIN_ADDRESS,
          YarnConfiguration.RM_WEBAPP_ADDRESS
        }) {
      conf.set(address, "127.0.0.1:0");
    }
  }

  /** Queues with equal shares; each may use the whole cluster. */
  private static void queues(Configuration conf) {
    conf.set(
        CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS,
        DominantResourceCalculator.class.getName());
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
    conf.set("yarn.scheduler.capacity.root.queues", String.join(",", QUEUES));
    for (String queue : QUEUES) {
      String prefix = "yarn.scheduler.capacity.root." + queue;
      conf.set(prefix + ".capacity", Float.toString(100f / QUEUES.length));
      conf.set(prefix + ".maximum-capacity", "100");
      conf.set(prefix + ".user-limit-factor", "100");
    }
  }

  private static void sls(Configuration conf) {
    conf.setBoolean(SLSConfiguration.METRICS_SWITCH, false);
    conf.setInt(SLSConfiguration.NM_MEMORY_MB, NODE_MIB);
    conf.setInt(SLSConfiguration.NM_VCORES, NODE_VCORES);
    conf.setInt(SLSConfiguration.NM_HEARTBEAT_INTERVAL_MS, 1000);
    conf.setInt(SLSConfiguration.AM_HEARTBEAT_INTERVAL_MS, 1000);
    conf.set(SLSConfiguration.AM_TYPE_PREFIX + "mapreduce", MRAMSimulator.class.getName());
  }

  private static void elastane(Configuration conf, Path folder) {
    conf.set(ElastaneConfiguration.MODE, "enforce");
    conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:0");
    conf.set(ElastaneConfiguration.DEPOSITORY_FILE, folder.resolve("depository.sqlite").toString());
    conf.set(ElastaneConfiguration.JOURNAL_FILE, folder.resolve("decisions.jsonl").toString());
  }
}
