package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.api.records.ResourceSizing;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.util.resource.ResourceUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Sixteen applications that go first and cannot be placed on a node, and one that can. */
class StarvedQueueTest {
  private static final int HIDING = 16;
  private static final String GPU = "yarn.io/gpu";

  @TempDir Path directory;

  private TestCluster cluster;
  private MockNM node;
  private final List<MockAM> first = new ArrayList<>();
  private MockAM last;

  /** Every master runs on another node than the one whose heartbeats are counted. */
  private void start(Configuration conf) throws Exception {
    cluster = TestCluster.start(conf);
    MockNM ofMasters = cluster.registerRaised("127.0.0.1:1", 8192, 32);
    for (int i = 0; i < HIDING; i++) {
      first.add(launch("somebody", ofMasters));
    }
    last = launch("another", ofMasters);
  }

  @AfterEach
  void stop() {
    cluster.close();
    ResourceUtils.resetResourceTypes(new Configuration(false));
  }

  @Test
  void theirBlacklistsHideNobody() throws Exception {
    start(configuration());
    node = cluster.registerRaised("127.0.0.2:2", 8192, 32);
    theyBlacklistTheNode();

    theLastIsPlacedAtOnce();
  }

  @Test
  void theirStrictLocalityHidesNobody() throws Exception {
    start(configuration());
    node = cluster.registerRaised("127.0.0.2:2", 8192, 32);
    for (MockAM master : first) {
      ResourceRequest there = request("127.0.0.1:1", 256);
      ResourceRequest rack = request("/default-rack", 256);
      ResourceRequest any = any(256);
      rack.setRelaxLocality(false);
      any.setRelaxLocality(false);
      master.allocate(Arrays.asList(there, rack, any), null);
    }

    theLastIsPlacedAtOnce();
  }

  @Test
  void theirUserLimitHidesNobody() throws Exception {
    Configuration conf = configuration();
    conf.set("yarn.scheduler.capacity.root.default.user-limit-factor", "0.25");
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    cluster = TestCluster.start(conf);
    MockNM ofMasters = cluster.register("127.0.0.1:1", 8192, 32);
    node = cluster.register("127.0.0.2:2", 8192, 32);
    cluster.report(ofMasters);
    cluster.report(node);
    for (int i = 0; i < HIDING; i++) {
      first.add(launch("somebody", ofMasters));
    }
    // Its user has 16 masters of 256 MiB, and with this container more than a quarter.
    cluster.ask(first.get(0), 1024, 1);
    cluster.heartbeatUntil(
        "the user is at its limit", () -> cluster.containers(first.get(0)) == 2, ofMasters);
    last = launch("another", ofMasters);
    for (MockAM master : first) {
      cluster.ask(master, 256, 1);
    }

    theLastIsPlacedAtOnce();
  }

  @Test
  void theirNodeLabelHidesNobody() throws Exception {
    Configuration conf = configuration();
    conf.set(YarnConfiguration.NODE_LABELS_ENABLED, "true");
    for (String queue : new String[] {"root", "root.default"}) {
      String prefix = "yarn.scheduler.capacity." + queue + ".accessible-node-labels";
      conf.set(prefix, "x");
      conf.set(prefix + ".x.capacity", "100");
    }
    start(conf);
    cluster
        .resourceManager()
        .getRMContext()
        .getNodeLabelManager()
        .addToCluserNodeLabelsWithDefaultExclusivity(Collections.singleton("x"));
    node = cluster.registerRaised("127.0.0.2:2", 8192, 32);
    for (MockAM master : first) {
      ResourceRequest labelled = any(256);
      labelled.setNodeLabelExpression("x");
      master.allocate(Collections.singletonList(labelled), null);
    }

    theLastIsPlacedAtOnce();
  }

  @Test
  void theirPlacementConstraintsHideNobody() throws Exception {
    Configuration conf = configuration();
    conf.set(
        YarnConfiguration.RM_PLACEMENT_CONSTRAINTS_HANDLER,
        YarnConfiguration.SCHEDULER_RM_PLACEMENT_CONSTRAINTS_HANDLER);
    start(conf);
    node = cluster.registerRaised("127.0.0.2:2", 8192, 64);
    for (MockAM master : first) {
      master.allocateIntraAppAntiAffinity(
          ResourceSizing.newInstance(2, Resource.newInstance(256, 1)),
          Priority.newInstance(1),
          1L,
          Collections.singleton("tag"),
          "tag");
    }
    cluster.heartbeatUntil(
        "one container of each, and no second one",
        () -> first.stream().allMatch(master -> cluster.containers(master) == 2),
        node);

    theLastIsPlacedAtOnce();
  }

  @Test
  void theirGpusHideNobodyAndReserveNothing() throws Exception {
    Configuration conf = configuration();
    conf.set(YarnConfiguration.RESOURCE_TYPES, GPU);
    ResourceUtils.resetResourceTypes(conf);
    start(conf);
    Resource size = Resource.newInstance(8192, 32);
    size.setResourceValue(GPU, 1);
    node = new MockNM("127.0.0.2:2", size, cluster.resourceManager().getResourceTrackerService());
    node.registerNode();
    cluster.resourceManager().drainEvents();
    cluster.report(node);
    cluster.heartbeatUntil("the node is raised", () -> cluster.bookableMib(node) > 8192, node);
    Resource withGpu = Resource.newInstance(256, 1);
    withGpu.setResourceValue(GPU, 1);
    cluster.ask(first.get(0), withGpu, 1);
    cluster.heartbeatUntil(
        "the only GPU is taken", () -> cluster.containers(first.get(0)) == 2, node);
    for (MockAM master : first) {
      cluster.ask(master, withGpu, 1);
    }

    theLastIsPlacedAtOnce();

    assertNull(cluster.schedulerNode(node).getReservedContainer());
  }

  @Test
  void theirBlacklistsHideNobodyInAnyHeartbeat() throws Exception {
    start(configuration());
    node = cluster.registerRaised("127.0.0.2:2", 8192, 32);
    theyBlacklistTheNode();
    cluster.ask(last, 512, 8);

    for (int placed = 1; placed <= 8; placed++) {
      cluster.heartbeat(node);
      assertEquals(1 + placed, cluster.containers(last));
    }
  }

  @Test
  void theCoreIsToldWhomCapacitySchedulerSkippedAndNamesThemBehindTheLast() throws Exception {
    start(configuration());
    node = cluster.registerRaised("127.0.0.2:2", 8192, 32);
    theyBlacklistTheNode();
    cluster.ask(last, 512, 8);

    assertEquals(2, roundsOfHeartbeat(), "all that it named were skipped, so it names the rest");
    Set<String> skipped = applicationsWaitingBecause("CapacityScheduler skipped it");
    for (MockAM master : first) {
      assertTrue(skipped.contains(idOf(master)), skipped.toString());
    }
    assertFalse(skipped.contains(idOf(last)), skipped.toString());

    // They rest for a second at first, and for twice as long after each further skip.
    long rounds = 2;
    for (int placed = 2; placed <= 8 && rounds == 2; placed++) {
      rounds = roundsOfHeartbeat();
      assertEquals(1 + placed, cluster.containers(last));
    }
    assertEquals(1, rounds, "the last is among those that the core names first");
  }

  /** How often the core is asked in one heartbeat of the node. */
  private long roundsOfHeartbeat() throws Exception {
    long before = cluster.metrics().roundCount();
    cluster.heartbeat(node);
    return cluster.metrics().roundCount() - before;
  }

  private Set<String> applicationsWaitingBecause(String reason) throws Exception {
    Set<String> applications = new HashSet<>();
    for (JsonNode waiting : cluster.coreStatus().get("waiting")) {
      if (waiting.get("reason").asText().contains(reason)) {
        applications.add(waiting.get("application").asText());
      }
    }
    return applications;
  }

  private static String idOf(MockAM master) {
    return master.getApplicationAttemptId().getApplicationId().toString();
  }

  private void theyBlacklistTheNode() throws Exception {
    for (MockAM master : first) {
      master.allocate(
          AllocateRequest.newInstance(
              0,
              0f,
              Collections.singletonList(any(256)),
              null,
              ResourceBlacklistRequest.newInstance(
                  Collections.singletonList("127.0.0.2:2"), null)));
    }
  }

  /** The last one asks for more than the others, so that the core's order has it behind them. */
  private void theLastIsPlacedAtOnce() throws Exception {
    cluster.ask(last, 512, 1);

    cluster.heartbeat(node);

    assertEquals(2, cluster.containers(last));
  }

  private Configuration configuration() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("hadoop.user.group.static.mapping.overrides", "somebody=somebody;another=another");
    return conf;
  }

  private MockAM launch(String user, MockNM on) throws Exception {
    RMApp application =
        MockRMAppSubmitter.submit(
            cluster.resourceManager(),
            MockRMAppSubmissionData.Builder.createWithMemory(256, cluster.resourceManager())
                .withUser(user)
                .withQueue("default")
                .withUnmanagedAM(false)
                .build());
    cluster.resourceManager().drainEvents();
    return MockRM.launchAndRegisterAM(application, cluster.resourceManager(), on);
  }

  private static ResourceRequest any(int memoryMib) {
    return request(ResourceRequest.ANY, memoryMib);
  }

  private static ResourceRequest request(String where, int memoryMib) {
    return ResourceRequest.newInstance(
        Priority.newInstance(1), where, Resource.newInstance(memoryMib, 1), 1);
  }
}
