package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.ContainerPreemptEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.SchedulerEventType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The preemption monitor's orders while more than the registered size is allocated on nodes. */
class PreemptionHoldTest {
  @TempDir Path directory;

  @Test
  void aQueueWithinItsShareOfTheFormerSizeIsSpared() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);
      cluster.heartbeatUntil(
          "the node's agent is silent", () -> cluster.bookableMib(node) == 4096, node);

      kill(cluster, master);

      assertEquals(3, cluster.containers(master));
      assertEquals(1, cluster.metrics().preemptionHeldBackCount());
    }
  }

  @Test
  void itIsSparedByACoreThatIsOutOfServiceToo() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);
      cluster
          .scheduler()
          .link()
          .guard()
          .takeOutOfService("a test", new IllegalStateException("asked for by a test"));

      cluster.heartbeat(node);
      kill(cluster, master);

      assertEquals(4096, cluster.bookableMib(node));
      assertEquals(1, cluster.metrics().preemptionHeldBackCount());
      assertEquals(3, cluster.containers(master));
    }
  }

  @Test
  void aNewCoreSparesItToo() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);
      CoreLink link = cluster.scheduler().link();
      link.recovery().setWaitsForTest(1);
      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));
      cluster.heartbeatUntil("a new core is in service", link.guard()::inService, node);

      kill(cluster, master);

      assertEquals(4096, cluster.bookableMib(node));
      assertEquals(3, cluster.containers(master));
    }
  }

  @Test
  void whereNoNodeHoldsMoreThanItsSizePreemptionIsCapacitySchedulers() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = fill(cluster, node);

      kill(cluster, master);

      assertEquals(2, cluster.containers(master));
      assertEquals(0, cluster.metrics().preemptionHeldBackCount());
    }
  }

  private Configuration twoQueues() {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "one", "other");
    conf.set("yarn.scheduler.elastane.report.missed", "3");
    return conf;
  }

  /** Each queue uses half of the 6144 MiB that may be booked. The master belongs to queue one. */
  private static MockAM fill(TestCluster cluster, MockNM node) throws Exception {
    MockAM master = launch(cluster, "one", node);
    launch(cluster, "other", node);
    cluster.heartbeatUntil("all is used", () -> cluster.allocatedMib(node) == 6144, node);
    return master;
  }

  /** A master with two containers of 1024 MiB that need half of it. */
  private static MockAM launch(TestCluster cluster, String queue, MockNM node) throws Exception {
    cluster.report(node);
    MockAM master = cluster.launch(queue, node);
    cluster.ask(master, 1024, 2);
    cluster.foresee(master, 1, 1, 512);
    return master;
  }

  /** Kills a container as the preemption monitor does after its wait. */
  static void kill(TestCluster cluster, MockAM master) {
    ContainerId last = cluster.containerIds(master).get(cluster.containers(master) - 1);
    cluster
        .scheduler()
        .handle(
            new ContainerPreemptEvent(
                master.getApplicationAttemptId(),
                cluster.scheduler().getRMContainer(last),
                SchedulerEventType.MARK_CONTAINER_FOR_KILLABLE));
  }
}
