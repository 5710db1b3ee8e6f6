package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.LimitWordsTest.words;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The words for the limit that holds back an executor for nodes with a label. */
class LabelLimitWordsTest {
  private static final String LABEL = "gpu";
  private static final String PREFIX = "yarn.scheduler.capacity.";
  private static final String LABELS = ".accessible-node-labels";

  @TempDir Path directory;
  private Configuration conf;
  private MockNM labelled;

  /** Each queue has a half of the label's nodes, and may take all of them. */
  @BeforeEach
  void configure() {
    conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    TestCluster.queues(conf, "a", "b");
    for (String queue : Arrays.asList("root", "root.a", "root.b")) {
      conf.set(PREFIX + queue + LABELS, LABEL);
      set(queue, "capacity", queue.equals("root") ? "100" : "50");
    }
  }

  @Test
  void aQueueAtItsMaximumOfTheLabelIsNamedWithItsAmounts() throws Exception {
    set("root.a", "maximum-capacity", "50");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockAM master = launch(cluster);
      ask(master, 3);
      assertNull(words(cluster, master), "another one fits");
      cluster.heartbeatUntil("a half", () -> cluster.containers(master) == 3, labelled);

      assertEquals(
          "queue root.a has <memory:2048, vCores:2> of at most <memory:2048, vCores:2> on nodes"
              + " with label 'gpu', and the next container requests <memory:1024, vCores:1>",
          words(cluster, master));
    }
  }

  @Test
  void aQueueThatMayTakeNothingOfTheLabelIsNamed() throws Exception {
    set("root.a", "capacity", "0");
    set("root.a", "maximum-capacity", "0");
    set("root.b", "capacity", "100");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockAM master = launch(cluster);
      ask(master, 1);

      assertEquals(
          "queue root.a has <memory:0, vCores:0> of at most <memory:0, vCores:0> on nodes with"
              + " label 'gpu', and the next container requests <memory:1024, vCores:1>",
          words(cluster, master));
    }
  }

  @Test
  void aUserAtTheLimitOfTheLabelIsNamed() throws Exception {
    conf.set(PREFIX + "root.a.user-limit-factor", "0.5");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockAM master = launch(cluster);
      ask(master, 4);
      assertNull(words(cluster, master), "the limit is not reached");
      // With its master, which has no part in what the user has of the label.
      cluster.heartbeatUntil("the user's part", () -> cluster.containers(master) == 3, labelled);

      assertEquals(
          "user somebody has <memory:2048, vCores:2> of at most <memory:1024, vCores:1> in queue"
              + " root.a on nodes with label 'gpu', and the next container requests <memory:1024,"
              + " vCores:1>",
          words(cluster, master));
    }
  }

  @Test
  void aQueueThatLosesItsAccessToTheLabelIsNamed() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockAM master = launch(cluster);
      ask(master, 1);
      assertNull(words(cluster, master), "it fits");

      conf.set(PREFIX + "root.a" + LABELS, " ");
      set("root.a", "capacity", "0");
      set("root.b", "capacity", "100");
      cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
      assertEquals(
          "queue root.a has no access to nodes with label 'gpu', which the next container"
              + " requests",
          words(cluster, master));
    }
  }

  @Test
  void aLabelWithoutNodesIsNoLimitOfAQueue() throws Exception {
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockAM master = launch(cluster);
      ask(master, 1);
      cluster
          .resourceManager()
          .getRMContext()
          .getNodeLabelManager()
          .removeLabelsFromNode(
              Collections.singletonMap(labelled.getNodeId(), Collections.singleton(LABEL)));
      cluster.resourceManager().drainEvents();

      assertEquals(
          "no node has the label 'gpu', which the next container requests", words(cluster, master));
    }
  }

  /** Its master runs on a node without a label, beside a node of 4 GiB with one. */
  private MockAM launch(TestCluster cluster) throws Exception {
    RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
    labels.addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton(LABEL));
    MockNM plain = cluster.registerReporting("127.0.0.1:1", 2048, 2);
    labelled = cluster.registerReporting("127.0.0.1:2", 4096, 4);
    labels.addLabelsToNode(
        Collections.singletonMap(labelled.getNodeId(), Collections.singleton(LABEL)));
    cluster.resourceManager().drainEvents();
    return cluster.launch("a", plain);
  }

  private static void ask(MockAM master, int count) throws Exception {
    ResourceRequest request =
        ResourceRequest.newInstance(
            Priority.newInstance(1), ResourceRequest.ANY, Resource.newInstance(1024, 1), count);
    request.setNodeLabelExpression(LABEL);
    master.allocate(Collections.singletonList(request), Collections.emptyList());
  }

  private void set(String queue, String key, String value) {
    conf.set(PREFIX + queue + LABELS + "." + LABEL + "." + key, value);
  }
}
