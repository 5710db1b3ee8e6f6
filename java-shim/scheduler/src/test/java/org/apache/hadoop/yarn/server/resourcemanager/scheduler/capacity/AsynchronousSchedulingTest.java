package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** CapacityScheduler's own threads propose containers, and another thread commits them. */
class AsynchronousSchedulingTest {
  @TempDir Path directory;

  @Test
  void theCoreOrdersAndItsPlacementsAreCounted() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean("yarn.scheduler.capacity.schedule-asynchronously.enable", true);
    conf.setInt("yarn.scheduler.capacity.schedule-asynchronously.maximum-threads", 2);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      RMApp application = cluster.submit("default");
      // The threads skip a node whose last two heartbeats are missing.
      cluster.heartbeatUntil(
          "the master has a container",
          () ->
              application.getCurrentAppAttempt().getAppAttemptState()
                  == RMAppAttemptState.ALLOCATED,
          node);
      MockAM master =
          MockRM.launchAMWhenAsyncSchedulingEnabled(application, cluster.resourceManager());
      master.registerAppAttempt();
      cluster.ask(master, 1024, 8);
      cluster.foresee(master, 1, 1, 1024);

      cluster.heartbeatUntil("the node is full", () -> cluster.allocatedMib(node) == 4096, node);
      long rounds = cluster.metrics().roundCount();
      long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (cluster.metrics().roundCount() < rounds + 50 && System.nanoTime() < deadlineNs) {
        cluster.heartbeat(node);
      }

      assertTrue(cluster.metrics().roundCount() >= rounds + 50, "the threads go on");
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(4, cluster.metrics().placedByCoreCount());
      assertEquals(1, cluster.containerIds(master).get(0).getContainerId() & 0xffffff);
      assertTrue(cluster.scheduler().link().guard().inService());
    }
  }
}
