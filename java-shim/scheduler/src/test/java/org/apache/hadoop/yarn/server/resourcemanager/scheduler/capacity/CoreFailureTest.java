package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.function.LongConsumer;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.elastane.natives.CoreException;
import org.elastane.natives.NativesForTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a failure of the core, and until it is back, the scheduler is CapacityScheduler. */
class CoreFailureTest {
  @TempDir Path directory;

  @Test
  void aPanicInTheCoreLeavesCapacityScheduler() throws Exception {
    leavesCapacityScheduler(NativesForTest::panic);
  }

  @Test
  void anErrorOfTheCoreLeavesCapacityScheduler() throws Exception {
    leavesCapacityScheduler(NativesForTest::error);
  }

  private void leavesCapacityScheduler(LongConsumer failure) throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      CoreLink link = cluster.scheduler().link();
      link.recovery().setWaitsForTest();
      assertThrows(CoreException.class, () -> failure.accept(link.core().handleForTest()));

      link.guard().run("a test", () -> failure.accept(link.core().handleForTest()));

      assertFalse(link.guard().inService());
      assertEquals(1, cluster.metrics().coreFailureCount());
      long placedByCore = cluster.metrics().placedByCoreCount();
      cluster.ask(master, 1024, 8);
      cluster.heartbeat(node);
      assertEquals(4096, cluster.bookableMib(node));
      for (int i = 0; i < 5; i++) {
        cluster.heartbeat(node);
      }
      assertEquals(4096, cluster.allocatedMib(node));
      assertEquals(placedByCore, cluster.metrics().placedByCoreCount());
      assertThrows(IOException.class, () -> cluster.report(node));
      MockNM later = cluster.register("127.0.0.1:2", 2048, 2);
      cluster.heartbeatUntil(
          "a node that came later is filled", () -> cluster.allocatedMib(later) == 2048, later);
    }
  }

  @Test
  void refusedInputIsCountedAndTheCoreStaysInService() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.register("127.0.0.1:1", 4096, 4);
      CoreLink link = cluster.scheduler().link();
      UsageReports reports = new UsageReports(link.guard(), link.core(), link.metrics());

      assertThrows(
          IllegalArgumentException.class,
          () -> reports.report(node.getNodeId(), TestCluster.PROTOCOL_VERSION, new byte[] {1}));
      link.guard()
          .run(
              "a test",
              () -> {
                throw new IllegalArgumentException("refused by a test");
              });

      assertEquals(1, cluster.metrics().refusedCallCount());
      assertEquals(0, cluster.metrics().coreFailureCount());
      assertTrue(link.guard().inService());
    }
  }

  @Test
  void nothingIsPlacedAboveTheRegisteredSizeBetweenTheFailureAndTheNextEvent() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      cluster.ask(master, 1024, 8);
      CoreLink link = cluster.scheduler().link();
      link.recovery().setWaitsForTest();
      link.guard().takeOutOfService("a test", new IllegalStateException("asked for by a test"));

      // As an asynchronous scheduling thread does, without an event.
      cluster
          .scheduler()
          .allocateContainersToNode(
              new SimpleCandidateNodeSet<>(cluster.schedulerNode(node)), true);

      assertEquals(4096, cluster.bookableMib(node));
    }
  }
}
