package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Physical, bookable, booked, planned and used sizes in /elastane/v1/sizes, nodes and queues. */
class SizesJsonTest {
  @TempDir Path directory;

  @Test
  void theSizesOfARaisedNodeAreBesideEachOther() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM raised = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      cluster.launch("a", raised);
      cluster.report(raised);
      cluster.register("127.0.0.1:2", 2048, 2);
      WebClient anybody = new WebClient(cluster, null);

      JsonNode sizes = anybody.json("/elastane/v1/sizes");
      JsonNode queues = anybody.json("/elastane/v1/queues");

      JsonNode all = sizes.get("cluster");
      assertEquals(Arrays.asList(2, 1, 1), numbers(all, "nodes", "nodes_raised", "nodes_measured"));
      assertEquals(Arrays.asList(6144, 8192, 1024), memory(all));
      assertEquals(Arrays.asList(6, 8, 1), virtualCores(all));
      assertTrue(all.get("used_memory_mb").isNumber(), all.toString());
      assertEquals(1, sizes.get("labels").size());
      assertEquals(memory(all), memory(sizes.get("labels").get(0)));
      // A half of the cluster each.
      assertEquals(Arrays.asList(6144, 8192, 1024), memory(queue(queues, "root")));
      assertEquals(Arrays.asList(3072, 4096, 1024), memory(queue(queues, "root.a")));
      assertEquals(Arrays.asList(3072, 4096, 0), memory(queue(queues, "root.b")));
      assertEquals(0, queue(queues, "root.a").get("used_memory_mb").asInt(-1), "nothing measured");

      JsonNode nodes = anybody.json("/elastane/v1/nodes").get("nodes");
      assertEquals("127.0.0.1:1", nodes.get(0).get("node").asText());
      assertTrue(nodes.get(0).get("is_raised").asBoolean());
      assertEquals(Arrays.asList(4096, 6144, 1024), memory(nodes.get(0)));
      assertTrue(nodes.get(0).get("used_cpu_cores").isNumber());
      assertEquals(1024, nodes.get(0).get("planned_memory_mb").asInt(), "the request");
      assertFalse(nodes.get(1).get("is_raised").asBoolean());
      assertEquals(Arrays.asList(2048, 2048, 0), memory(nodes.get(1)));
      assertTrue(nodes.get(1).get("used_memory_mb").isNull(), "it never reported");
      assertTrue(nodes.get(1).get("planned_memory_mb").isNull(), "it never reported");
    }
  }

  @Test
  void eachNodeLabelHasItsOwnSizesAndEachQueueItsShareOfThem() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    conf.set(YarnConfiguration.NODE_LABELS_ENABLED, "true");
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    TestCluster.queues(conf, "a", "b");
    for (String queue : Arrays.asList("root", "root.a")) {
      String prefix = "yarn.scheduler.capacity." + queue + ".accessible-node-labels";
      conf.set(prefix, "x");
      conf.set(prefix + ".x.capacity", "100");
    }
    try (TestCluster cluster = TestCluster.start(conf)) {
      RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
      labels.addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton("x"));
      cluster.register("127.0.0.1:1", 4096, 4);
      MockNM labelled = cluster.register("127.0.0.1:2", 2048, 2);
      labels.addLabelsToNode(
          Collections.singletonMap(labelled.getNodeId(), Collections.singleton("x")));
      cluster.resourceManager().drainEvents();
      cluster.heartbeat(labelled);

      WebClient anybody = new WebClient(cluster, null);
      JsonNode sizes = anybody.json("/elastane/v1/sizes");
      JsonNode queues = anybody.json("/elastane/v1/queues");

      assertEquals(Arrays.asList(6144, 6144, 0), memory(sizes.get("cluster")));
      assertEquals("", sizes.get("labels").get(0).get("label").asText());
      assertEquals(Arrays.asList(4096, 4096, 0), memory(sizes.get("labels").get(0)));
      assertEquals("x", sizes.get("labels").get(1).get("label").asText());
      assertEquals(Arrays.asList(2048, 2048, 0), memory(sizes.get("labels").get(1)));
      assertEquals(Arrays.asList(2048, 2048, 0), memory(queue(queues, "root.a")));
      assertEquals(Arrays.asList(2048, 2048, 0), memory(queue(queues, "root.a", "x")));
      assertEquals(100, queue(queues, "root.a", "x").get("capacity_percent").asInt());
      assertThrows(AssertionError.class, () -> queue(queues, "root.b", "x"), "it has no part");
    }
  }

  @Test
  void aGuaranteeThatIsAnAmountDoesNotGrowWithTheCluster() throws Exception {
    Configuration conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set("yarn.scheduler.capacity.root.a.capacity", "[memory=1024,vcores=1]");
    conf.set("yarn.scheduler.capacity.root.b.capacity", "[memory=3072,vcores=3]");
    conf.unset("yarn.scheduler.capacity.root.a.maximum-capacity");
    conf.unset("yarn.scheduler.capacity.root.b.maximum-capacity");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      cluster.scheduler().schedulerLock().lock();
      try {
        NodeResizes.Resizer resizer = cluster.scheduler().resizer();
        resizer.resize(cluster.schedulerNode(node).getRMNode(), Resource.newInstance(6144, 6));
        resizer.recomputeQueues();
      } finally {
        cluster.scheduler().schedulerLock().unlock();
      }

      JsonNode queues = new WebClient(cluster, null).json("/elastane/v1/queues");

      assertEquals(Arrays.asList(4096, 6144, 0), memory(queue(queues, "root")));
      assertEquals(Arrays.asList(1024, 1024, 0), memory(queue(queues, "root.a")));
      assertEquals(Arrays.asList(3072, 3072, 0), memory(queue(queues, "root.b")));
    }
  }

  private static JsonNode queue(JsonNode queues, String path) {
    return queue(queues, path, "");
  }

  private static JsonNode queue(JsonNode queues, String path, String label) {
    for (JsonNode queue : queues.get("queues")) {
      for (JsonNode ofLabel : queue.get("labels")) {
        if (queue.get("queue").asText().equals(path)
            && ofLabel.get("label").asText().equals(label)) {
          return ofLabel;
        }
      }
    }
    throw new AssertionError("no queue " + path + " in " + queues);
  }

  private static List<Integer> memory(JsonNode entry) {
    return numbers(entry, "physical_memory_mb", "bookable_memory_mb", "booked_memory_mb");
  }

  private static List<Integer> virtualCores(JsonNode entry) {
    return numbers(entry, "physical_vcores", "bookable_vcores", "booked_vcores");
  }

  private static List<Integer> numbers(JsonNode entry, String... names) {
    List<Integer> numbers = new ArrayList<>();
    for (String name : names) {
      numbers.add(entry.get(name).asInt());
    }
    return numbers;
  }
}
