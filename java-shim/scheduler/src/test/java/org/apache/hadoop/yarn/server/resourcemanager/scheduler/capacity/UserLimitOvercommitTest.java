package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On raised nodes no user takes more of the machines than its limit. */
class UserLimitOvercommitTest {
  @TempDir Path directory;

  private Configuration conf;

  @BeforeEach
  void limits() {
    conf = TestCluster.enforcing(directory);
    conf.set("hadoop.user.group.static.mapping.overrides", "somebody=somebody;another=another");
  }

  /**
   * One user, of a queue of one half that may grow to all. In mode off it takes 4,608 MiB: its
   * limit is 4,096, and CapacityScheduler lets it pass the limit by a container.
   */
  @Test
  void aUserTakesNoMoreThanItsLimitOfTheMachine() throws Exception {
    TestCluster.queues(conf, "small", "a");
    conf.set("yarn.scheduler.capacity.root.a.user-limit-factor", "1");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 32);
      MockAM master = launch(cluster, "another", "a", 512, node);
      cluster.ask(master, 512, 24);
      fill(cluster, node);

      assertEquals(4608, usedMib(cluster, "a", "another"), "half of 8,192, and a container");
    }
  }

  /** Two users with half each, both waiting from the start; in mode off, 4,608 and 3,584 MiB. */
  @Test
  void twoUsersGetHalfOfTheMachineEach() throws Exception {
    TestCluster.queues(conf, "a");
    conf.set("yarn.scheduler.capacity.root.a.user-limit-factor", "1");
    conf.set("yarn.scheduler.capacity.root.a.minimum-user-limit-percent", "50");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 32);
      MockAM one = launch(cluster, "another", "a", 512, node);
      MockAM two = launch(cluster, "somebody", "a", 512, node);
      cluster.ask(one, 512, 24);
      cluster.ask(two, 1024, 12);
      fill(cluster, node);

      assertEquals(4608, usedMib(cluster, "a", "another"), "half of 8,192, and a container");
      assertEquals(3584, usedMib(cluster, "a", "somebody"));
    }
  }

  private static void fill(TestCluster cluster, MockNM node) throws Exception {
    for (int i = 0; i < 40; i++) {
      cluster.heartbeat(node);
    }
  }

  private static long usedMib(TestCluster cluster, String queue, String user) {
    LeafQueue leaf = (LeafQueue) cluster.capacityScheduler().getQueue("root." + queue);
    return leaf.getUser(user) == null ? 0 : leaf.getUser(user).getUsed().getMemorySize();
  }

  private static RMApp submit(TestCluster cluster, String user, String queue, int memoryMib)
      throws Exception {
    RMApp application =
        MockRMAppSubmitter.submit(
            cluster.resourceManager(),
            MockRMAppSubmissionData.Builder.createWithMemory(memoryMib, cluster.resourceManager())
                .withUser(user)
                .withQueue(queue)
                .withUnmanagedAM(false)
                .build());
    cluster.resourceManager().drainEvents();
    return application;
  }

  private static MockAM launch(
      TestCluster cluster, String user, String queue, int memoryMib, MockNM node) throws Exception {
    return MockRM.launchAndRegisterAM(
        submit(cluster, user, queue, memoryMib), cluster.resourceManager(), node);
  }
}
