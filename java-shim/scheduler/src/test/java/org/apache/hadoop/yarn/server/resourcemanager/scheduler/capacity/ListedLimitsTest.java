package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.util.ControlledClock;
import org.elastane.Await;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** CapacityScheduler's limits in the lists of waiting applications. */
class ListedLimitsTest {
  private static final String MAXIMUM = "yarn.scheduler.capacity.root.a.maximum-capacity";
  private static final String LIMIT =
      "queue root.a has <memory:3072, vCores:3> of at most <memory:3072, vCores:3>, and the next"
          + " container requests <memory:1024, vCores:1>";

  @TempDir Path directory;

  private Configuration conf;
  private TestCluster cluster;
  private MockAM first;
  private MockAM second;

  /** Two applications wait in a queue that is at its maximum. */
  @BeforeEach
  void fillTheQueue() throws Exception {
    conf = WebClient.withPage(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set(MAXIMUM, "75");
    conf.set("yarn.scheduler.capacity.root.a.user-limit-factor", "4");
    cluster = TestCluster.start(conf);
    MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
    first = cluster.launch("a", node);
    second = cluster.launch("a", node);
    cluster.ask(first, 1024, 1);
    cluster.heartbeatUntil("the queue is full", () -> cluster.containers(first) == 2, node);
    cluster.ask(first, 1024, 2);
    cluster.ask(second, 1024, 1);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void theListsOfRestHaveTheLimitOfEachThatWaits() throws Exception {
    WebClient anybody = new WebClient(cluster, null);
    Set<String> both = new TreeSet<>(Set.of(idOf(first).toString(), idOf(second).toString()));
    Await.until("both wait", () -> both.equals(waiting(anybody, "applications?state=waiting")));

    for (String path : new String[] {"applications?queue=root.a", "status"}) {
      for (JsonNode entry : entries(anybody, path)) {
        JsonNode why = entry.has("waiting") ? entry.get("waiting") : entry;
        assertEquals("capacity-scheduler", why.get("limit_of").asText(), why.toString());
        assertEquals(LIMIT, why.get("capacity_scheduler_says").asText(), path);
      }
      assertEquals(both, waiting(anybody, path));
    }
  }

  @Test
  void aLimitIsWorkedOutOnceASecondForAllWhoseNextContainersAreAlike() throws Exception {
    ControlledClock clock = new ControlledClock();
    ListedLimits limits = new ListedLimits(cluster.capacityScheduler(), clock);
    assertEquals(LIMIT, says(limits, first));

    conf.set(MAXIMUM, "100");
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
    clock.tickMsec(999);
    assertEquals(LIMIT, says(limits, second), "kept");
    clock.tickMsec(1);
    assertEquals("null", says(limits, second));
  }

  @Test
  void whatAnApplicationAsksForIsReadOnceASecond() throws Exception {
    ControlledClock clock = new ControlledClock();
    ListedLimits limits = new ListedLimits(cluster.capacityScheduler(), clock);
    assertEquals(LIMIT, says(limits, first));

    cluster.ask(first, 2048, 1);
    clock.tickMsec(999);
    assertEquals(LIMIT, says(limits, first), "kept");
    clock.tickMsec(1);
    String later = says(limits, first);
    assertTrue(later.endsWith("the next container requests <memory:2048, vCores:1>"), later);
  }

  @Test
  void whomElastaneLetsWaitHasNoLimitOfCapacityScheduler() throws Exception {
    ListedLimits limits = new ListedLimits(cluster.capacityScheduler(), new ControlledClock());
    ObjectNode why = waiting("elastane");
    limits.addTo(why, idOf(first));
    assertTrue(why.get("capacity_scheduler_says").isNull(), why.toString());
  }

  private static String says(ListedLimits limits, MockAM master) {
    ObjectNode why = waiting("capacity-scheduler");
    limits.addTo(why, idOf(master));
    return why.get("capacity_scheduler_says").asText();
  }

  private static ObjectNode waiting(String limitOf) {
    return new ObjectMapper()
        .createObjectNode()
        .put("limit_of", limitOf)
        .put("request_priority", 1)
        .putNull("capacity_scheduler_says");
  }

  private static Set<String> waiting(WebClient caller, String path) {
    Set<String> ids = new TreeSet<>();
    entries(caller, path).forEach(entry -> ids.add(entry.get("application").asText()));
    return ids;
  }

  private static JsonNode entries(WebClient caller, String path) {
    try {
      JsonNode answer = caller.json("/elastane/v1/" + path);
      return answer.has("applications") ? answer.get("applications") : answer.get("waiting");
    } catch (Exception e) {
      throw new AssertionError(path, e);
    }
  }

  private static ApplicationId idOf(MockAM master) {
    return master.getApplicationAttemptId().getApplicationId();
  }
}
