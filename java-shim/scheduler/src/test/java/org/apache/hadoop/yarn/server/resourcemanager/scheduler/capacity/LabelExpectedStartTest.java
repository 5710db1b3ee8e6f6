package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core is told which node label the next container asks for. */
class LabelExpectedStartTest {
  private static final String LABEL = "gpu";

  @TempDir Path directory;

  @Test
  void aContainerIsExpectedOnNodesWithItsLabelOnly() throws Exception {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, "observe", directory);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    for (String queue : Arrays.asList("root", "root.default")) {
      String labels = "yarn.scheduler.capacity." + queue + ".accessible-node-labels";
      conf.set(labels, LABEL);
      conf.set(labels + "." + LABEL + ".capacity", "100");
    }
    try (TestCluster cluster = TestCluster.start(conf)) {
      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton(LABEL));
      MockNM plain = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockNM labelled = cluster.registerReporting("127.0.0.1:2", 2048, 2);
      labels.addLabelsToNode(
          Collections.singletonMap(labelled.getNodeId(), Collections.singleton(LABEL)));
      cluster.resourceManager().drainEvents();
      MockAM master = cluster.launch("default", plain);

      ask(master, RMNodeLabelsManager.NO_LABEL, 3072);
      assertEquals(0, expectedStart(cluster).path("in_ms").asInt(-1), "there is room for it");
      ask(master, LABEL, 3072);
      assertEquals("null", expectedStart(cluster).toString(), "no node with the label is so large");
      ask(master, LABEL, 1024);
      assertEquals(0, expectedStart(cluster).path("in_ms").asInt(-1), "the labelled node has room");
    }
  }

  private static void ask(MockAM master, String label, int memoryMb) throws Exception {
    ResourceRequest request =
        ResourceRequest.newInstance(
            Priority.newInstance(1), ResourceRequest.ANY, Resource.newInstance(memoryMb, 1), 1);
    request.setNodeLabelExpression(label);
    master.allocate(Collections.singletonList(request), Collections.emptyList());
  }

  private static JsonNode expectedStart(TestCluster cluster) throws IOException {
    return cluster.coreStatus().get("waiting").get(0).get("expected_start");
  }
}
