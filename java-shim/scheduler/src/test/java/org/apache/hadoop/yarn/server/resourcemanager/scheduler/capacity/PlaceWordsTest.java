package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.LimitWordsTest.words;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.ExecutionTypeRequest;
import org.apache.hadoop.yarn.api.records.NodeLabel;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.ResourceSizing;
import org.apache.hadoop.yarn.api.records.SchedulingRequest;
import org.apache.hadoop.yarn.api.resource.PlacementConstraints;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The words for the places where CapacityScheduler does not start an executor. */
class PlaceWordsTest {
  private static final String FIRST = "127.0.0.1:1";
  private static final String SECOND = "127.0.0.1:2";
  private static final String THIRD = "127.0.0.1:3";
  private static final String REQUESTS = "the next container requests <memory:1024, vCores:1>";
  private static final String RELAX = ", or relax the request's locality";

  @TempDir Path directory;

  @Test
  void aNodeThatIsNotInTheClusterIsNamed() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting(FIRST, 4096, 4);
      MockAM master = cluster.launch("default", node);
      askStrictly(cluster, master, 1, "nowhere");
      cluster.heartbeat(node);

      assertEquals(
          REQUESTS + " on node nowhere only, which is not in the cluster: bring one in" + RELAX,
          words(cluster, master));
    }
  }

  @Test
  void aNodeWithoutRoomIsNamedWithItsAmounts() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM full = cluster.registerReporting(FIRST, 2048, 4);
      MockNM other = cluster.registerReporting(SECOND, 4096, 4);
      MockAM master = cluster.launch("default", full);
      askStrictly(cluster, master, 2, FIRST);
      assertNull(words(cluster, master), "one fits");
      cluster.heartbeatUntil(
          "the node is full", () -> cluster.containers(master) == 2, full, other);

      assertEquals(
          REQUESTS
              + " on node 127.0.0.1:1 only, which has <memory:0, vCores:2> free: wait for room"
              + " there"
              + RELAX,
          words(cluster, master));
    }
  }

  @Test
  void aRackOnTheBlacklistIsNamed() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting(FIRST, 4096, 4);
      MockAM master = cluster.launch("default", node);
      master.allocate(
          Arrays.asList(request(NetworkTopology.DEFAULT_RACK, 1, true), request("*", 1, false)),
          Collections.emptyList());
      assertNull(words(cluster, master), "it fits");
      blacklist(cluster, master, NetworkTopology.DEFAULT_RACK);
      cluster.heartbeat(node);

      assertEquals(
          REQUESTS
              + " on rack /default-rack only, which is on the application's blacklist: take one off"
              + " the list"
              + RELAX,
          words(cluster, master));
    }
  }

  @Test
  void aBlacklistWithTheOnlyNodeThatHasRoomIsNamed() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM full = cluster.registerReporting(FIRST, 1024, 4);
      MockAM master = cluster.launch("default", full);
      MockNM free = cluster.registerReporting(SECOND, 4096, 4);
      cluster.ask(master, 1024, 1);
      assertNull(words(cluster, master), "it fits");
      blacklist(cluster, master, SECOND);
      cluster.heartbeat(full, free);

      assertEquals(1, cluster.containers(master));
      assertEquals(
          REQUESTS
              + ", and the application's blacklist has node 127.0.0.1:2: no other node that it may"
              + " use has room for it",
          words(cluster, master));

      blacklist(cluster, master, FIRST);
      assertEquals(
          "the application's blacklist has all nodes of the cluster: node 127.0.0.1:1, node"
              + " 127.0.0.1:2",
          words(cluster, master));
    }
  }

  @Test
  void aNodeWithAnExclusiveLabelIsNoPlaceForARequestWithoutOne() throws Exception {
    try (TestCluster cluster = TestCluster.start(withLabels())) {
      MockNM full = cluster.registerReporting(FIRST, 1024, 4);
      MockAM master = cluster.launch("default", full);
      label(cluster, cluster.registerReporting(SECOND, 4096, 4), true);
      cluster.registerReporting(THIRD, 4096, 4);
      cluster.ask(master, 1024, 1);
      blacklist(cluster, master, SECOND);
      assertNull(words(cluster, master), "it fits");
      blacklist(cluster, master, THIRD);

      assertEquals(
          REQUESTS
              + ", and the application's blacklist has node 127.0.0.1:3: no other node that it may"
              + " use has room for it",
          words(cluster, master));
    }
  }

  @Test
  void aStrictRequestWithoutALabelIsToldOfAnExclusiveOne() throws Exception {
    try (TestCluster cluster = TestCluster.start(withLabels())) {
      MockNM plain = cluster.registerReporting(FIRST, 4096, 4);
      MockAM master = cluster.launch("default", plain);
      label(cluster, cluster.registerReporting(SECOND, 4096, 4), true);
      label(cluster, cluster.registerReporting(THIRD, 4096, 4), false);
      askStrictly(cluster, master, 1, THIRD);
      assertNull(words(cluster, master), "its label is not exclusive");
      askStrictly(cluster, master, 0, THIRD);
      askStrictly(cluster, master, 1, SECOND);

      assertEquals(
          REQUESTS
              + " on node 127.0.0.1:2 only, which has an exclusive label: request that label"
              + RELAX,
          words(cluster, master));
    }
  }

  @Test
  void theRequestThatWaitsIsTheOneOfItsPriority() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting(FIRST, 4096, 4);
      MockAM master = cluster.launch("default", node);
      askStrictly(cluster, master, 1, "nowhere");
      cluster.ask(master, 2, Resource.newInstance(1024, 1), 1);
      FiCaSchedulerApp attempt =
          cluster.capacityScheduler().getApplicationAttempt(master.getApplicationAttemptId());

      assertNotNull(PlaceWords.never(cluster.scheduler(), attempt, null));
      assertNotNull(PlaceWords.never(cluster.scheduler(), attempt, 1));
      assertNull(PlaceWords.never(cluster.scheduler(), attempt, 2));
    }
  }

  @Test
  void aPlacementConstraintThatRefusesTheNodeIsNamed() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set(
        YarnConfiguration.RM_PLACEMENT_CONSTRAINTS_HANDLER,
        YarnConfiguration.SCHEDULER_RM_PLACEMENT_CONSTRAINTS_HANDLER);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerReporting(FIRST, 4096, 4);
      MockAM master = cluster.launch("default", node);
      askApart(cluster, master, 2);
      assertNull(words(cluster, master), "one fits");
      cluster.heartbeatUntil("one of them", () -> cluster.containers(master) == 2, node);

      assertEquals(
          REQUESTS
              + ", and the placement constraint \"notin,node,apart\" refuses the nodes that have"
              + " room for it: node 127.0.0.1:1",
          words(cluster, master));
    }
  }

  private Configuration withLabels() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    return conf;
  }

  private static void label(TestCluster cluster, MockNM node, boolean isExclusive)
      throws Exception {
    RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
    String name = isExclusive ? "exclusive" : "shared";
    labels.addToCluserNodeLabels(
        Collections.singletonList(NodeLabel.newInstance(name, isExclusive)));
    labels.addLabelsToNode(Collections.singletonMap(node.getNodeId(), Collections.singleton(name)));
    cluster.resourceManager().drainEvents();
  }

  private static void askStrictly(TestCluster cluster, MockAM master, int count, String node)
      throws Exception {
    List<ResourceRequest> asks = new ArrayList<>();
    asks.add(request(node, count, true));
    asks.add(request(NetworkTopology.DEFAULT_RACK, count, false));
    asks.add(request(ResourceRequest.ANY, count, false));
    master.allocate(asks, Collections.emptyList());
    cluster.resourceManager().drainEvents();
  }

  /** No two of the containers on one node. */
  private static void askApart(TestCluster cluster, MockAM master, int count) throws Exception {
    Set<String> tags = Collections.singleton("apart");
    SchedulingRequest request =
        SchedulingRequest.newBuilder()
            .priority(Priority.newInstance(1))
            .allocationTags(tags)
            .executionType(ExecutionTypeRequest.newInstance(ExecutionType.GUARANTEED))
            .resourceSizing(ResourceSizing.newInstance(count, Resource.newInstance(1024, 1)))
            .placementConstraintExpression(
                PlacementConstraints.targetNotIn(
                        PlacementConstraints.NODE,
                        PlacementConstraints.PlacementTargets.allocationTag("apart"))
                    .build())
            .build();
    AllocateRequest allocate =
        AllocateRequest.newInstance(0, 0, Collections.emptyList(), Collections.emptyList(), null);
    allocate.setSchedulingRequests(Collections.singletonList(request));
    master.allocate(allocate);
    cluster.resourceManager().drainEvents();
  }

  private static void blacklist(TestCluster cluster, MockAM master, String place) throws Exception {
    master.allocate(
        AllocateRequest.newInstance(
            0,
            0,
            Collections.emptyList(),
            Collections.emptyList(),
            ResourceBlacklistRequest.newInstance(
                Collections.singletonList(place), Collections.emptyList())));
    cluster.resourceManager().drainEvents();
  }

  private static ResourceRequest request(String place, int count, boolean relaxed) {
    return ResourceRequest.newInstance(
        Priority.newInstance(1), place, Resource.newInstance(1024, 1), count, relaxed);
  }
}
