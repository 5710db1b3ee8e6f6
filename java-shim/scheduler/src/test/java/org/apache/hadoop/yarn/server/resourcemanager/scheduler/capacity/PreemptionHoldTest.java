package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeResourceUpdateEvent;
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
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      MockAM master = fill(cluster, node);
      shrink(cluster, node);

      kill(cluster, master);

      assertEquals(4, cluster.containers(master));
      assertEquals(1, cluster.metrics().preemptionHeldBackCount());
    }
  }

  @Test
  void itIsSparedByACoreThatIsOutOfServiceToo() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 8);
      MockAM master = fill(cluster, node);
      shrink(cluster, node);
      cluster
          .scheduler()
          .link()
          .guard()
          .takeOutOfService("a test", new IllegalStateException("asked for by a test"));

      kill(cluster, master);

      assertEquals(4096, cluster.bookableMib(node));
      assertEquals(1, cluster.metrics().preemptionHeldBackCount());
      assertEquals(4, cluster.containers(master));
    }
  }

  @Test
  void whereNoNodeHoldsMoreThanItsSizePreemptionIsCapacitySchedulers() throws Exception {
    try (TestCluster cluster = TestCluster.start(twoQueues())) {
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      MockAM master = fill(cluster, node);

      kill(cluster, master);

      assertEquals(3, cluster.containers(master));
      assertEquals(0, cluster.metrics().preemptionHeldBackCount());
    }
  }

  private Configuration twoQueues() {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "one", "other");
    return conf;
  }

  /** Each queue uses its half of the node. The master belongs to queue one. */
  private static MockAM fill(TestCluster cluster, MockNM node) throws Exception {
    MockAM master = cluster.launch("one", node);
    cluster.ask(master, 1024, 3);
    cluster.heartbeatUntil("half is used", () -> cluster.allocatedMib(node) == 4096, node);
    MockAM neighbour = cluster.launch("other", node);
    cluster.ask(neighbour, 1024, 3);
    cluster.heartbeatUntil("all is used", () -> cluster.allocatedMib(node) == 8192, node);
    return master;
  }

  private static void shrink(TestCluster cluster, MockNM node) {
    cluster
        .resourceManager()
        .getRMContext()
        .getDispatcher()
        .getEventHandler()
        .handle(
            new RMNodeResourceUpdateEvent(
                node.getNodeId(), ResourceOption.newInstance(Resource.newInstance(4096, 4), -1)));
    cluster.resourceManager().drainEvents();
  }

  /** Kills a container as the preemption monitor does after its wait. */
  private static void kill(TestCluster cluster, MockAM master) {
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
