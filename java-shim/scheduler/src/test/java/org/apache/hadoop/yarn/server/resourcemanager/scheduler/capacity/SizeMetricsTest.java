package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.elastane.Await;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The sizes as metrics of node labels and queues. */
class SizeMetricsTest {
  private static final String LABEL_X = "ElastanePartitionMetrics,partition=x";
  private static final String ROOT = "ElastanePartitionQueueMetrics,partition=,q0=root";

  @TempDir Path directory;

  @Test
  void aQueueHasItsShareAndWhatItBooked() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      cluster.launch("a", node);

      String a = ROOT + ",q1=a";
      Published.await("PhysicalMB", 2048, a);
      Published.await("BookableMB", 3072, a);
      Published.await("BookedMB", 1024, a);
      Published.await("BookedMB", 0, ROOT + ",q1=b");
      Published.await("BookedMB", 1024, ROOT);
      Published.await("PhysicalMB", 4096, "ElastanePartitionMetrics,partition=");
      Published.await("BookableMB", 6144, "ElastanePartitionMetrics,partition=");
      assertTrue(Published.hasBean(a));
      cluster.scheduler().link().activeServices().stop();
      assertFalse(Published.hasBean("ElastanePartition*,*"));
    }
  }

  @Test
  void aLabelAndAQueueThatComeAreFollowed() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set(YarnConfiguration.NODE_LABELS_ENABLED, "true");
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      Published.await("BookedMB", 0, ROOT + ",q1=a");
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton("x"));
      labels.addLabelsToNode(
          Collections.singletonMap(node.getNodeId(), Collections.singleton("x")));
      cluster.resourceManager().drainEvents();
      Configuration more = new Configuration(conf);
      TestCluster.queues(more, "a", "b", "c");
      cluster.scheduler().reinitialize(more, cluster.resourceManager().getRMContext());

      Published.await("PhysicalMB", 4096, LABEL_X);
      Published.await("BookedMB", 0, ROOT + ",q1=c");
      assertTrue(Published.hasBean(ROOT + ",q1=c"));

      labels.removeLabelsFromNode(
          Collections.singletonMap(node.getNodeId(), Collections.singleton("x")));
      cluster.resourceManager().drainEvents();
      Await.until(
          "the label's is gone", () -> DefaultMetricsSystem.instance().getSource(LABEL_X) == null);
    }
  }
}
