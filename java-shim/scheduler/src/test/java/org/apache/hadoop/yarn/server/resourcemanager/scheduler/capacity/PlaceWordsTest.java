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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The words for the places where CapacityScheduler does not start an executor. */
class PlaceWordsTest {
  private static final String FIRST = "127.0.0.1:1";
  private static final String SECOND = "127.0.0.1:2";
  private static final String THIRD = "127.0.0.1:3";
  private static final String REQUESTS = "the next container requests <memory:1024, vCores:1>";
  private static final String RELAX = ", or relax the request's locality";

  private static final String EXCLUSIVE = "exclusive";

  @TempDir Path directory;
  private TestCluster cluster;
  private MockNM first;
  private MockAM master;

  @AfterEach
  void close() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void aNodeThatIsNotInTheClusterIsNamed() throws Exception {
    start(4096);
    askStrictly(1, "nowhere");
    cluster.heartbeat(first);

    assertEquals(
        REQUESTS + " on node nowhere only, which is not in the cluster: bring one in" + RELAX,
        words(cluster, master));
  }

  @Test
  void aNodeWithoutRoomIsNamedWithItsAmounts() throws Exception {
    start(2048);
    MockNM other = cluster.registerReporting(SECOND, 4096, 4);
    askStrictly(2, FIRST);
    assertNull(words(cluster, master), "one fits");
    cluster.heartbeatUntil("the node is full", () -> cluster.containers(master) == 2, first, other);

    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:1 only, which has <memory:0, vCores:2> free: wait for room"
            + " there"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void aRackOnTheBlacklistIsNamed() throws Exception {
    start(4096);
    master.allocate(
        Arrays.asList(request(NetworkTopology.DEFAULT_RACK, 1, true), request("*", 1, false)),
        Collections.emptyList());
    assertNull(words(cluster, master), "it fits");
    blacklist(NetworkTopology.DEFAULT_RACK);
    cluster.heartbeat(first);

    assertEquals(
        REQUESTS
            + " on rack /default-rack only, which is on the application's blacklist: take one off"
            + " the list"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void aBlacklistWithTheOnlyNodeThatHasRoomIsNamed() throws Exception {
    start(1024);
    MockNM free = cluster.registerReporting(SECOND, 4096, 4);
    cluster.ask(master, 1024, 1);
    assertNull(words(cluster, master), "it fits");
    blacklist(SECOND);
    cluster.heartbeat(first, free);

    assertEquals(1, cluster.containers(master));
    assertEquals(
        REQUESTS
            + ", and the application's blacklist has node 127.0.0.1:2: no other node that it may"
            + " use has room for it",
        words(cluster, master));

    blacklist(FIRST);
    assertEquals(
        "the application's blacklist has all nodes of the cluster: node 127.0.0.1:1, node"
            + " 127.0.0.1:2",
        words(cluster, master));
  }

  @Test
  void aNodeWithAnExclusiveLabelIsNoPlaceForARequestWithoutOne() throws Exception {
    start(withLabels(), 1024);
    label(cluster.registerReporting(SECOND, 4096, 4), true);
    cluster.registerReporting(THIRD, 4096, 4);
    cluster.ask(master, 1024, 1);
    blacklist(SECOND);
    assertNull(words(cluster, master), "it fits");
    blacklist(THIRD);

    assertEquals(
        REQUESTS
            + ", and the application's blacklist has node 127.0.0.1:3: no other node that it may"
            + " use has room for it",
        words(cluster, master));
  }

  @Test
  void aStrictRequestWithoutALabelIsToldOfAnExclusiveOne() throws Exception {
    start(withLabels(), 4096);
    label(cluster.registerReporting(SECOND, 4096, 4), true);
    label(cluster.registerReporting(THIRD, 4096, 4), false);
    askStrictly(1, THIRD);
    assertNull(words(cluster, master), "its label is not exclusive");
    askStrictly(0, THIRD);
    askStrictly(1, SECOND);

    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:2 only, which has an exclusive label: request that label"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void theRequestThatWaitsIsTheOneOfItsPriority() throws Exception {
    start(4096);
    askStrictly(1, "nowhere");
    cluster.ask(master, 2, Resource.newInstance(1024, 1), 1);
    FiCaSchedulerApp attempt =
        cluster.capacityScheduler().getApplicationAttempt(master.getApplicationAttemptId());

    assertNotNull(PlaceWords.never(cluster.scheduler(), attempt, null));
    assertNotNull(PlaceWords.never(cluster.scheduler(), attempt, 1));
    assertNull(PlaceWords.never(cluster.scheduler(), attempt, 2));
  }

  @Test
  void aPlacementConstraintThatRefusesTheNodeIsNamed() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set(
        YarnConfiguration.RM_PLACEMENT_CONSTRAINTS_HANDLER,
        YarnConfiguration.SCHEDULER_RM_PLACEMENT_CONSTRAINTS_HANDLER);
    start(conf, 4096);
    askApart(2);
    assertNull(words(cluster, master), "one fits");
    cluster.heartbeatUntil("one of them", () -> cluster.containers(master) == 2, first);

    assertEquals(
        REQUESTS
            + ", and the placement constraint \"notin,node,apart\" refuses the nodes that have"
            + " room for it: node 127.0.0.1:1",
        words(cluster, master));
  }

  @Test
  void severalPlacesThatAreNotInTheClusterAreNamedUpToThree() throws Exception {
    start(4096);
    askStrictly(1, "nowhere-1", "nowhere-2");
    assertEquals(
        REQUESTS
            + " on node nowhere-1, node nowhere-2 only, which are not in the cluster: bring one in"
            + RELAX,
        words(cluster, master));

    askStrictly(1, "nowhere-1", "nowhere-2", "nowhere-3", "nowhere-4", "nowhere-5");
    assertEquals(
        REQUESTS
            + " on node nowhere-1, node nowhere-2, node nowhere-3 and 2 more only, which are not in"
            + " the cluster: bring one in"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void severalPlacesOfWhichNoneMayBeUsedAreNamedWithTheBlacklist() throws Exception {
    start(4096);
    askStrictly(1, FIRST, "nowhere");
    assertNull(words(cluster, master), "it fits on one of them");
    blacklist(FIRST);

    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:1, node nowhere only, which are not in the cluster or on the"
            + " application's blacklist: take one off the list"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void severalPlacesWithoutRoomAreNamed() throws Exception {
    start(1024);
    cluster.registerReporting(SECOND, 512, 4);
    cluster.registerReporting(THIRD, 4096, 4);
    askStrictly(1, FIRST, THIRD);
    assertNull(words(cluster, master), "it fits on one of them");
    askStrictly(0, THIRD);
    askStrictly(1, FIRST, SECOND);

    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:1, node 127.0.0.1:2 only, which have no room for it: wait for"
            + " room there"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void aRackWithoutRoomIsNamed() throws Exception {
    start(1536);
    cluster.registerReporting(SECOND, 512, 4);
    askStrictly(1, NetworkTopology.DEFAULT_RACK);

    assertEquals(
        REQUESTS
            + " on rack /default-rack only, which has room for it on none of its nodes: wait for"
            + " room there"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void severalPlacesWithAnExclusiveLabelAreNoPlacesForARequestWithoutOne() throws Exception {
    start(withLabels(), 4096);
    label(cluster.registerReporting(SECOND, 4096, 4), true);
    label(cluster.registerReporting(THIRD, 4096, 4), true);
    askStrictly(1, SECOND, THIRD);

    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:2, node 127.0.0.1:3 only, which are not in the cluster, have an"
            + " exclusive label or are on the application's blacklist: request that label"
            + RELAX,
        words(cluster, master));
  }

  @Test
  void placesWithoutTheRequestedLabelAreNamedWithIt() throws Exception {
    start(withLabels(), 4096);
    label(cluster.registerReporting(SECOND, 4096, 4), true);
    cluster.registerReporting(THIRD, 4096, 4);
    askStrictly(EXCLUSIVE, 1, SECOND);
    assertNull(words(cluster, master), "it has the label");
    askStrictly(EXCLUSIVE, 0, SECOND);
    askStrictly(EXCLUSIVE, 1, FIRST);
    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:1 only, which does not have the requested label 'exclusive':"
            + " request another label"
            + RELAX,
        words(cluster, master));

    askStrictly(EXCLUSIVE, 1, FIRST, THIRD);
    assertEquals(
        REQUESTS
            + " on node 127.0.0.1:1, node 127.0.0.1:3 only, which do not have the requested label"
            + " 'exclusive' or are on the application's blacklist: request another label"
            + RELAX,
        words(cluster, master));
  }

  private void start(int memoryMib) throws Exception {
    start(TestCluster.enforcing(directory), memoryMib);
  }

  /** A cluster with one node, on which an application master runs. */
  private void start(Configuration conf, int memoryMib) throws Exception {
    cluster = TestCluster.start(conf);
    first = cluster.registerReporting(FIRST, memoryMib, 4);
    master = cluster.launch("default", first);
  }

  /** The queue may use all nodes with the exclusive label. */
  private Configuration withLabels() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    for (String queue : Arrays.asList("root", "root.default")) {
      String labels = "yarn.scheduler.capacity." + queue + ".accessible-node-labels";
      conf.set(labels, EXCLUSIVE);
      conf.set(labels + '.' + EXCLUSIVE + ".capacity", "100");
    }
    return conf;
  }

  private void label(MockNM node, boolean isExclusive) throws Exception {
    RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
    String name = isExclusive ? EXCLUSIVE : "shared";
    labels.addToCluserNodeLabels(
        Collections.singletonList(NodeLabel.newInstance(name, isExclusive)));
    labels.addLabelsToNode(Collections.singletonMap(node.getNodeId(), Collections.singleton(name)));
    cluster.resourceManager().drainEvents();
  }

  private void askStrictly(int count, String... places) throws Exception {
    askStrictly(RMNodeLabelsManager.NO_LABEL, count, places);
  }

  private void askStrictly(String label, int count, String... places) throws Exception {
    List<ResourceRequest> asks = new ArrayList<>();
    for (String place : places) {
      asks.add(request(place, count, true));
    }
    if (!Arrays.asList(places).contains(NetworkTopology.DEFAULT_RACK)) {
      asks.add(request(NetworkTopology.DEFAULT_RACK, count, false));
    }
    ResourceRequest anywhere = request(ResourceRequest.ANY, count, false);
    anywhere.setNodeLabelExpression(label);
    asks.add(anywhere);
    master.allocate(asks, Collections.emptyList());
    cluster.resourceManager().drainEvents();
  }

  /** No two of the containers on one node. */
  private void askApart(int count) throws Exception {
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

  private void blacklist(String place) throws Exception {
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
