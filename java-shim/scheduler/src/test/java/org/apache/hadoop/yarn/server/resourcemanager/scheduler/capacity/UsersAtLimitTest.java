package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.NodeLabel;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.nodelabels.RMNodeLabelsManager;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * While a user has all that CapacityScheduler gives it, the core names none of its applications.
 *
 * <p>A user's limit is an eighth of the 16 GiB of queue a. CapacityScheduler lets it pass that by a
 * container.
 */
class UsersAtLimitTest {
  private static final int LIMIT_MIB = 2048;
  private static final int MANY = UsersAtLimit.MOST_ASKED_AGAIN + 3;

  @TempDir Path directory;

  private Configuration conf;
  private TestCluster cluster;
  private MockNM node;
  private MockAM first;
  private MockAM second;
  private int containersAtLimit;

  @BeforeEach
  void reachTheLimit() throws Exception {
    conf = TestCluster.enforcing(directory);
    StringBuilder groups = new StringBuilder("somebody=somebody;another=another");
    for (int user = 0; user < MANY; user++) {
      groups.append(";user").append(user).append("=users");
    }
    conf.set("hadoop.user.group.static.mapping.overrides", groups.toString());
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    TestCluster.queues(conf, "small", "a");
    setUserLimitFactor("0.125");
    labels();
    cluster = TestCluster.start(conf);
    node = cluster.registerReporting("127.0.0.1:1", 32768, 512);
    first = launch("another");
    second = launch("another");
    cluster.ask(first, 512, 100);
    cluster.ask(second, 512, 100);
    cluster.heartbeatUntil("the user is beyond its limit", () -> usedMib() > LIMIT_MIB, node);
    cluster.heartbeat(node);
    containersAtLimit = containersOfBoth();
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void oneOfItsApplicationsIsNamedInVainOnceAndNoneAgain() throws Exception {
    assertEquals(1, cluster.metrics().namedInVainCount());
    heartbeats(8);
    assertEquals(1, cluster.metrics().namedInVainCount());

    MockAM other = launch("somebody");
    cluster.ask(other, 512, 2);
    heartbeats(2);
    assertEquals(3, cluster.containers(other), "another user's");
    assertEquals(containersAtLimit, containersOfBoth());
  }

  @Test
  void allOfItsApplicationsAreToldThatItIsAtItsLimit() throws Exception {
    heartbeats(1);
    JsonNode waiting = cluster.coreStatus().get("waiting");
    assertEquals(2, waiting.size());
    for (JsonNode one : waiting) {
      String reason = one.get("reason").asText();
      assertTrue(
          reason.startsWith(
              "CapacityScheduler gives user another nothing more in queue root.a: the user is at"
                  + " its limit "),
          reason);
      assertEquals("capacity-scheduler", one.get("limit_of").asText());
    }
  }

  @Test
  void itGetsMoreAtOnceWhenAContainerHasEnded() throws Exception {
    cluster.end(node, cluster.containers(first) > 1 ? first : second, 2);
    heartbeats(1);
    assertEquals(containersAtLimit, containersOfBoth());
  }

  @Test
  void itGetsMoreAtOnceWhenItsLimitIsRaised() throws Exception {
    setUserLimitFactor("1");
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    heartbeats(1);
    assertTrue(containersOfBoth() > containersAtLimit);
  }

  @Test
  void anotherOfItsApplicationsGetsMoreWhenOneHasEnded() throws Exception {
    first.unregisterAppAttempt();
    cluster.end(node, first, 1);
    cluster.heartbeatUntil("the other one has it all", () -> usedMib() > LIMIT_MIB, node);
    heartbeats(1);
    long before = cluster.metrics().namedInVainCount();
    heartbeats(8);
    assertEquals(before, cluster.metrics().namedInVainCount());
  }

  @Test
  void ofManyUsersSomeAreAskedAboutAgainAndTheOthersFoundAgain() throws Exception {
    List<MockAM> masters = new ArrayList<>();
    for (int user = 0; user < MANY; user++) {
      masters.add(launch("user" + user));
    }
    // Less than a master. With this limit from the start, no master would run.
    setUserLimitFactor("0.001");
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    for (MockAM master : masters) {
      cluster.ask(master, 512, 1);
    }
    heartbeats(2);
    long before = cluster.metrics().namedInVainCount();
    heartbeats(2);
    assertEquals(before, cluster.metrics().namedInVainCount());
    // As each change of the queue's use does.
    queue().getUsersManager().userLimitNeedsRecompute();
    heartbeats(2);
    assertEquals(
        before + MANY + 1 - UsersAtLimit.MOST_ASKED_AGAIN, cluster.metrics().namedInVainCount());
  }

  /** CapacityScheduler tells a master its limit only if it is offered the node. */
  @Test
  void anotherMasterOfItIsToldTheLimit() throws Exception {
    RMApp third = submit("another");
    heartbeats(2);
    assertTrue(
        third.getDiagnostics().toString().contains("User capacity has reached its maximum limit"),
        third.getDiagnostics().toString());
  }

  /** With a reservation to give back, an application may go beyond its user's limit. */
  @Test
  void itIsNamedAllTheSameWhileItsQueueHasAReservation() throws Exception {
    MockNM full = cluster.register("127.0.0.2:1", 1024, 16);
    MockAM other = launch("somebody", full);
    other.allocate(
        AllocateRequest.newInstance(
            0,
            0f,
            null,
            null,
            ResourceBlacklistRequest.newInstance(Collections.singletonList("127.0.0.1:1"), null)));
    cluster.ask(other, 1024, 1);
    cluster.heartbeatUntil(
        "the node is reserved",
        () -> cluster.schedulerNode(full).getReservedContainer() != null,
        full);
    long before = cluster.metrics().namedInVainCount();
    cluster.heartbeat(node);
    assertEquals(before + 3, cluster.metrics().namedInVainCount(), "both, and the other one");
  }

  /** CapacityScheduler lends such nodes beyond the users' limits. */
  @Test
  void itGetsANodeWhoseLabelIsNotExclusive() throws Exception {
    MockNM shared = cluster.registerReporting("127.0.0.1:2", 4096, 64);
    RMNodeLabelsManager labels = cluster.resourceManager().getRMContext().getNodeLabelManager();
    labels.addToCluserNodeLabels(Collections.singletonList(NodeLabel.newInstance("shared", false)));
    labels.addLabelsToNode(
        Collections.singletonMap(shared.getNodeId(), Collections.singleton("shared")));
    cluster.resourceManager().drainEvents();
    cluster.heartbeatUntil("it gets the node", () -> cluster.allocatedMib(shared) > 0, shared);
  }

  private int containersOfBoth() {
    return cluster.containers(first) + cluster.containers(second);
  }

  private long usedMib() {
    return queue().getUser("another").getUsed().getMemorySize();
  }

  private LeafQueue queue() {
    return (LeafQueue) cluster.capacityScheduler().getQueue("root.a");
  }

  private void heartbeats(int count) throws Exception {
    for (int i = 0; i < count; i++) {
      cluster.heartbeat(node);
    }
  }

  private void setUserLimitFactor(String factor) {
    conf.set("yarn.scheduler.capacity.root.a.user-limit-factor", factor);
  }

  private void labels() {
    conf.setBoolean(YarnConfiguration.NODE_LABELS_ENABLED, true);
    conf.set(
        YarnConfiguration.FS_NODE_LABELS_STORE_ROOT_DIR,
        directory.resolve("labels").toUri().toString());
    conf.set("yarn.scheduler.capacity.root.accessible-node-labels.shared.capacity", "100");
    for (String queue : new String[] {"a", "small"}) {
      String prefix = "yarn.scheduler.capacity.root." + queue + ".accessible-node-labels";
      conf.set(prefix, "shared");
      conf.set(prefix + ".shared.capacity", "50");
    }
  }

  private MockAM launch(String user) throws Exception {
    return launch(user, node);
  }

  private MockAM launch(String user, MockNM on) throws Exception {
    return MockRM.launchAndRegisterAM(submit(user), cluster.resourceManager(), on);
  }

  private RMApp submit(String user) throws Exception {
    RMApp application =
        MockRMAppSubmitter.submit(
            cluster.resourceManager(),
            MockRMAppSubmissionData.Builder.createWithMemory(512, cluster.resourceManager())
                .withUser(user)
                .withQueue("a")
                .withUnmanagedAM(false)
                .build());
    cluster.resourceManager().drainEvents();
    return application;
  }
}
