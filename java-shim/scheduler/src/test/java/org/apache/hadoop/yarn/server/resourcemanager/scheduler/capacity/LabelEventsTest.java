package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.NodeLabel;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeLabelsUpdateSchedulerEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LabelEventsTest {
  @TempDir Path directory;

  @Test
  void theLabelEventsOfAResizeAreHeldBackAndANewLabelIsFollowed() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Counting.class, ResourceScheduler.class);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    try (TestCluster cluster = TestCluster.start(conf)) {
      Counting scheduler = (Counting) cluster.scheduler();
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      long resizes = scheduler.resizes.get();
      assertTrue(resizes > 0);
      assertEquals(2 * resizes, scheduler.link().labelEvents().heldBack());

      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabels(Collections.singletonList(NodeLabel.newInstance("gpu")));
      labels.addLabelsToNode(
          Collections.singletonMap(node.getNodeId(), Collections.singleton("gpu")));
      cluster.resourceManager().drainEvents();
      assertEquals("gpu", cluster.schedulerNode(node).getPartition());
    }
  }

  @Test
  void aNodeWhoseLabelIsNotExclusiveIsNotRaised() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    String prefix = "yarn.scheduler.capacity.root";
    conf.set(prefix + ".accessible-node-labels.shared.capacity", "100");
    conf.set(prefix + ".default.accessible-node-labels", "shared");
    conf.set(prefix + ".default.accessible-node-labels.shared.capacity", "100");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM shared = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabels(
          Collections.singletonList(NodeLabel.newInstance("shared", false)));
      labels.addLabelsToNode(
          Collections.singletonMap(shared.getNodeId(), Collections.singleton("shared")));
      cluster.resourceManager().drainEvents();

      cluster.heartbeatUntil(
          "it has its registered size", () -> cluster.bookableMib(shared) == 4096, shared);
      MockNM other = cluster.registerRaised("127.0.0.1:2", 4096, 4);

      assertTrue(cluster.bookableMib(other) > 4096);
      assertEquals(4096, cluster.bookableMib(shared));
    }
  }

  @Test
  void onlyTheEventsOfAResizeAreHeldBack() {
    NodeId node = NodeId.newInstance("host", 1);
    LabelEvents events = new LabelEvents(any -> null, any -> Collections.emptySet());
    NodeLabelsUpdateSchedulerEvent left = event(Collections.emptyMap());
    assertFalse(events.holdsBack(left));
    events.expect(node);
    assertTrue(events.holdsBack(left));
    assertFalse(events.holdsBack(left), "each resize has one");
    assertFalse(
        events.holdsBack(event(Collections.singletonMap(node, Collections.emptySet()))),
        "the scheduler does not have the node");
  }

  private static NodeLabelsUpdateSchedulerEvent event(Map<NodeId, Set<String>> labels) {
    return new NodeLabelsUpdateSchedulerEvent(labels);
  }

  /** Counts the resizes of nodes. */
  public static final class Counting extends ElastaneScheduler {
    private final AtomicLong resizes = new AtomicLong();

    @Override
    NodeResizes.Resizer resizer() {
      NodeResizes.Resizer resizer = super.resizer();
      return new NodeResizes.Resizer() {
        @Override
        public void resize(RMNode node, Resource size) {
          resizes.incrementAndGet();
          resizer.resize(node, size);
        }

        @Override
        public void recomputeQueues() {
          resizer.recomputeQueues();
        }
      };
    }
  }
}
