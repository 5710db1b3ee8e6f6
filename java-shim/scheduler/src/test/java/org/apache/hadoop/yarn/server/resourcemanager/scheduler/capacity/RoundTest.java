package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The applications that a node is offered to when the core decides. */
class RoundTest {
  @TempDir Path directory;

  @Test
  void anUnknownApplicationGetsNoMoreThanThePhysicalSizeThoughMoreIsBookable() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      assertEquals(6144, cluster.bookableMib(node));
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);

      for (int i = 0; i < 12; i++) {
        cluster.heartbeat(node);
      }

      assertEquals(4096, cluster.allocatedMib(node));
      assertNull(cluster.schedulerNode(node).getReservedContainer());
      assertEquals(4, cluster.metrics().placedByCoreCount());
      assertTrue(cluster.metrics().roundCount() >= 4);
    }
  }

  @Test
  void whatDoesNotFitIsLeftOutAndTheNextIsServed() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM large = cluster.launch("default", node);
      MockAM small = cluster.launch("default", node);
      cluster.ask(large, 3072, 1);
      cluster.ask(small, 1024, 1);

      cluster.heartbeat(node);
      cluster.heartbeat(node);

      assertEquals(1, cluster.containers(large));
      assertEquals(2, cluster.containers(small));
      assertNull(cluster.schedulerNode(node).getReservedContainer());
    }
  }

  @Test
  void inObserveModeTheFirstReservesTheNodeAsInCapacityScheduler() throws Exception {
    try (TestCluster cluster =
        TestCluster.start(
            TestCluster.configuration(ElastaneScheduler.class, "observe", directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      // The master sends no heartbeat, but counts for the queue's limit.
      cluster.register("127.0.0.1:2", 4096, 4);
      MockAM large = cluster.launch("default", node);
      MockAM small = cluster.launch("default", node);
      cluster.ask(large, 3072, 1);
      cluster.ask(small, 1024, 1);

      cluster.heartbeat(node);
      cluster.heartbeat(node);

      assertNotNull(cluster.schedulerNode(node).getReservedContainer());
      assertEquals(1, cluster.containers(small));
    }
  }

  @Test
  void theOrderIsTheCoresAndNotThatOfSubmission() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 8192, 8);
      MockAM first = cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);
      cluster.ask(first, Resource.newInstance(4096, 4), 1);
      cluster.ask(second, Resource.newInstance(512, 1), 1);

      cluster.heartbeat(node);

      // The default policy places the application with the smaller demand first.
      assertEquals(1, cluster.containers(first));
      assertEquals(2, cluster.containers(second));
    }
  }

  @Test
  void withoutAReportTheNodeIsScheduledAsCapacityScheduler() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 8192, 8);
      MockAM first = cluster.launch("default", node);
      MockAM second = cluster.launch("default", node);
      cluster.ask(first, Resource.newInstance(512, 1), 1);
      cluster.ask(second, Resource.newInstance(4096, 4), 1);

      cluster.heartbeat(node);

      assertEquals(2, cluster.containers(first));
      assertEquals(1, cluster.containers(second));
      assertEquals(0, cluster.metrics().placedByCoreCount());
    }
  }

  @Test
  void anApplicationThatTheCoreDoesNotKnowPassesInTheBaseOrder() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.bookingsDiffer();
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      RMApp application = cluster.submit("default");
      MockAM master = MockRM.launchAndRegisterAM(application, cluster.resourceManager(), node);
      cluster.scheduler().link().applications().removed(application.getApplicationId(), null);

      // The core was never told of the next attempt's application.
      node.nodeHeartbeat(master.getApplicationAttemptId(), 1, ContainerState.COMPLETE);
      cluster.heartbeatUntil(
          "the second attempt has its container",
          () ->
              application.getCurrentAppAttempt().getAppAttemptId().getAttemptId() == 2
                  && application.getCurrentAppAttempt().getMasterContainer() != null,
          node);
    }
  }
}
