package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CapacityScheduler's own preemptions are decisions, told apart from those of the core. */
class CapacityPreemptionTest {
  @TempDir Path directory;

  @ParameterizedTest(name = "mode {0}")
  @ValueSource(strings = {"enforce", "observe"})
  void aContainerThatTheMonitorTakesIsADecision(String mode) throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration(mode, false))) {
      Scene scene = new Scene(cluster);

      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION);
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION);
      assertEquals(Collections.singletonList("told"), scene.outcomes());
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);

      assertEquals(3, cluster.containers(scene.rich));
      // As a node's overcommit time-out does it.
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_PREEMPTION);
      assertEquals(Arrays.asList("told", "preempted"), scene.outcomes());
      List<JsonNode> decisions = scene.decisions();
      assertEquals("finished", decisions.get(decisions.size() - 1).get("kind").asText());
      JsonNode preempted = decisions.get(decisions.size() - 2);
      assertEquals("preemption", preempted.get("kind").asText());
      assertEquals("capacity-scheduler", preempted.get("cause").asText());
      assertEquals("root.a", preempted.get("queue").asText());
      assertEquals("127.0.0.1:1", preempted.get("node").asText());
      assertEquals(
          scene.rich.getApplicationAttemptId().getApplicationId().toString(),
          preempted.get("application").asText());
      assertEquals(
          "the preemption monitor takes it from queue root.a", preempted.get("reason").asText());
      assertEquals(0, cluster.metrics().memoryPreemptionCount());
      assertEquals(0, cluster.coreStatus().get("memory_preemptions").asInt());
    }
  }

  @Test
  void aKillableContainerIsPreemptedForTheRoomOfAnotherOne() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("enforce", true))) {
      Scene scene = new Scene(cluster);
      MockNM other = cluster.registerReporting("127.0.0.1:2", 1024, 1);
      MockAM poor = cluster.launch("b", other);

      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      assertEquals(Collections.singletonList("killable"), scene.outcomes());
      cluster.ask(poor, 1024, 1);
      cluster.heartbeatUntil(
          "it has its container", () -> cluster.containers(poor) == 2, scene.node);

      assertEquals(Arrays.asList("killable", "preempted"), scene.outcomes());
    }
  }

  @Test
  void aContainerThatIsKillableNoMoreIsSpared() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("enforce", true))) {
      Scene scene = new Scene(cluster);

      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_NONKILLABLE);
      cluster.end(scene.node, scene.rich, 4);

      assertEquals(3, cluster.containers(scene.rich));
      assertEquals(Arrays.asList("killable", "spared"), scene.outcomes());
      assertEquals("the preemption monitor has given it up", scene.reasonOf("spared"));
    }
  }

  @Test
  void aKillableContainerThatEndsByItselfIsNotPreempted() throws Exception {
    try (TestCluster cluster = TestCluster.start(configuration("enforce", true))) {
      Scene scene = new Scene(cluster);

      scene.orders(SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE);
      cluster.end(scene.node, scene.rich, 4);

      assertEquals(3, cluster.containers(scene.rich));
      assertEquals(Collections.singletonList("killable"), scene.outcomes());
    }
  }

  private Configuration configuration(String mode, boolean lazy) {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, mode, directory);
    WebClient.enable(conf);
    TestCluster.queues(conf, "a", "b");
    conf.setBoolean(CapacitySchedulerConfiguration.LAZY_PREEMPTION_ENABLED, lazy);
    return conf;
  }

  /** Queue a has a node of 4 GiB, with a master and three containers. */
  private static final class Scene {
    private final TestCluster cluster;
    private final MockNM node;
    private final MockAM rich;
    private final RMContainer victim;

    Scene(TestCluster cluster) throws Exception {
      this.cluster = cluster;
      node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      rich = cluster.launch("a", node);
      cluster.ask(rich, 1024, 3);
      cluster.heartbeatUntil("the node is full", () -> cluster.containers(rich) == 4, node);
      victim = cluster.scheduler().getRMContainer(cluster.containerIds(rich).get(3));
    }

    /** As CapacityScheduler's preemption monitor does it. */
    void orders(SchedulerEventType type) {
      cluster
          .scheduler()
          .handle(new ContainerPreemptEvent(rich.getApplicationAttemptId(), victim, type));
    }

    /** About the victim, the oldest first. */
    List<JsonNode> decisions() throws Exception {
      String path = "/elastane/v1/decisions?container=" + victim.getContainerId();
      List<JsonNode> decisions = new ArrayList<>();
      new WebClient(cluster, null).json(path).get("decisions").forEach(decisions::add);
      Collections.reverse(decisions);
      return decisions;
    }

    String reasonOf(String outcome) throws Exception {
      for (JsonNode decision : decisions()) {
        if (decision.path("outcome").asText().equals(outcome)) {
          return decision.get("reason").asText();
        }
      }
      return null;
    }

    List<String> outcomes() throws Exception {
      List<String> outcomes = new ArrayList<>();
      for (JsonNode decision : decisions()) {
        if (decision.get("kind").asText().equals("preemption")) {
          outcomes.add(decision.get("outcome").asText());
        }
      }
      return outcomes;
    }
  }
}
