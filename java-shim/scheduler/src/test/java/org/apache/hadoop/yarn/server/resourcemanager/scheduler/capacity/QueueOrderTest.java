package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceBlacklistRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicyWithExclusivePartitions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which of a queue's applications a node is offered to, and in which order. */
class QueueOrderTest {
  @TempDir Path directory;

  private Configuration inTheQueuesOrder() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.placement.order", "queue");
    return conf;
  }

  /** Two queues, one of them in mode observe. */
  private Configuration observing(String queue) {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b");
    conf.set("yarn.scheduler.elastane.mode.queue." + queue, "observe");
    return conf;
  }

  @Test
  void aFifoQueueKeepsItsOrderAmongThoseThatFit() throws Exception {
    try (TestCluster cluster = TestCluster.start(inTheQueuesOrder())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 8);
      MockAM tooLarge = cluster.launch("default", node);
      MockAM first = cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);
      cluster.ask(tooLarge, Resource.newInstance(7168, 1), 1);
      cluster.ask(first, Resource.newInstance(4096, 4), 1);
      cluster.ask(second, Resource.newInstance(512, 1), 1);

      cluster.heartbeat(node);

      assertEquals(2, cluster.containers(first), "although the second one demands less");
      assertEquals(1, cluster.containers(second));
      cluster.heartbeat(node);
      assertEquals(2, cluster.containers(second));
      assertEquals(1, cluster.containers(tooLarge));
      assertNull(cluster.schedulerNode(node).getReservedContainer());
      assertEquals(5, cluster.metrics().placedByCoreCount());
    }
  }

  @Test
  void aQueueInObserveKeepsItsOrderBesideOneThatTheCoreOrders() throws Exception {
    try (TestCluster cluster = TestCluster.start(observing("root.a"))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 16384, 16);
      MockAM large = cluster.launch("a", node);
      MockAM small = cluster.launch("a", node);
      MockAM largeOfCore = cluster.launch("b", node);
      MockAM smallOfCore = cluster.launch("b", node);
      cluster.ask(large, Resource.newInstance(4096, 1), 1);
      cluster.ask(small, Resource.newInstance(512, 1), 1);
      cluster.ask(largeOfCore, Resource.newInstance(2048, 1), 1);
      cluster.ask(smallOfCore, Resource.newInstance(512, 1), 1);

      cluster.heartbeat(node);
      cluster.heartbeat(node);

      assertEquals(2, cluster.containers(large), "the first in its queue");
      assertEquals(1, cluster.containers(small));
      assertEquals(1, cluster.containers(largeOfCore));
      assertEquals(2, cluster.containers(smallOfCore), "it demands least");
    }
  }

  @Test
  void oneRoundServesAQueueInObserveAndOneThatTheCoreOrders() throws Exception {
    try (TestCluster cluster = TestCluster.start(observing("root.a"))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 16);
      MockAM skipped = cluster.launch("a", node);
      MockAM fits = cluster.launch("b", node);
      MockAM other = cluster.launch("b", node);
      skipped.allocate(
          AllocateRequest.newInstance(
              0,
              0f,
              null,
              null,
              ResourceBlacklistRequest.newInstance(
                  Collections.singletonList("127.0.0.1:1"), null)));
      cluster.ask(skipped, Resource.newInstance(512, 1), 1);
      cluster.ask(fits, Resource.newInstance(512, 1), 1);
      cluster.ask(other, Resource.newInstance(1024, 1), 1);

      cluster.heartbeat(node);

      assertEquals(1, cluster.containers(skipped), "it does not want the node");
      assertEquals(2, cluster.containers(fits), "queue a was asked before");
    }
  }

  @Test
  void aQueueInObserveStartsNothingAboveTheSizeOfARaisedNode() throws Exception {
    try (TestCluster cluster = TestCluster.start(observing("root.b"))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 8);
      MockAM observed = cluster.launch("b", node);
      cluster.ask(observed, 1024, 8);

      for (int heartbeat = 0; heartbeat < 8; heartbeat++) {
        cluster.heartbeat(node);
        assertTrue(cluster.allocatedMib(node) <= 4096);
      }

      assertEquals(4, cluster.containers(observed), "with its master");
    }
  }

  @Test
  void aFairQueueKeepsItsOrderAmongThoseThatFit() throws Exception {
    Configuration conf = inTheQueuesOrder();
    conf.set("yarn.scheduler.capacity.root.default.ordering-policy", "fair");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 8192, 16);
      MockAM first = cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);
      cluster.ask(first, Resource.newInstance(256, 1), 4);
      cluster.ask(second, Resource.newInstance(256, 1), 4);

      for (int placed = 1; placed <= 4; placed++) {
        cluster.heartbeat(node);
        cluster.heartbeat(node);

        assertEquals(1 + placed, cluster.containers(first), "in turns");
        assertEquals(1 + placed, cluster.containers(second), "in turns");
      }
    }
  }

  @Test
  void moreThanSixteenFollowEachOtherInTheQueuesOrder() throws Exception {
    try (TestCluster cluster = TestCluster.start(inTheQueuesOrder())) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 40960, 40);
      MockAM[] masters = new MockAM[20];
      for (int i = 0; i < masters.length; i++) {
        masters[i] = cluster.launch("default", node);
      }
      // The later one asks for less, so the core's own order would begin with the last.
      for (int i = 0; i < masters.length; i++) {
        cluster.ask(masters[i], 256 * (1 + (masters.length - i) / 6), 1);
      }

      for (int i = 0; i < masters.length; i++) {
        cluster.heartbeat(node);
        assertEquals(2, cluster.containers(masters[i]), "application " + i);
      }
    }
  }

  @Test
  void anOrderThatDoesNotExistIsRefusedAtStart() {
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.placement.order", "fifo");
    String message = "";
    try {
      TestCluster.start(conf).close();
    } catch (RuntimeException e) {
      message = e.toString() + e.getCause();
    }
    assertTrue(
        message.contains(
            "yarn.scheduler.elastane.placement.order is 'fifo', allowed is elastane or queue"),
        message);
  }

  @Test
  void applicationsOfQueuesThatAreNotOursTakeNoPlaceInTheAnswer() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    TestCluster.queues(conf, "a", "b", "c", "zours");
    for (String foreign : new String[] {"a", "b", "c"}) {
      conf.set(
          "yarn.scheduler.capacity.root." + foreign + ".ordering-policy",
          FifoOrderingPolicyWithExclusivePartitions.class.getName());
    }
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1");
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 1 << 17, 128);
      cluster.report(node);
      MockAM master = cluster.launch("zours", node);
      for (int i = 0; i < 17; i++) {
        cluster.submit("a");
        cluster.submit("b");
        cluster.submit("c");
      }
      cluster.ask(master, Resource.newInstance(4096, 4), 1);

      // One container each: the other queues are served in turn, and 41 of their masters still
      // wait.
      for (int i = 0; i < 10; i++) {
        cluster.heartbeat(node);
      }

      assertEquals(2, cluster.containers(master));
    }
  }
}
