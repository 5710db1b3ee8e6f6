package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nobody takes a node for lost while it is resized. */
class NodeBeingResizedTest {
  private static final int RESIZES = 2_000;

  @TempDir Path directory;

  @Test
  void aNodeIsFoundWithoutTheLockWhileItIsResized() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      ElastaneScheduler scheduler = cluster.scheduler();
      NodeId id = node.getNodeId();
      RMNode rmNode = cluster.schedulerNode(node).getRMNode();
      AtomicBoolean done = new AtomicBoolean();
      CompletableFuture<Integer> misses =
          CompletableFuture.supplyAsync(
              () -> {
                int missed = 0;
                while (!done.get()) {
                  missed += scheduler.getNode(id) == null ? 1 : 0;
                  missed += scheduler.getSchedulerNode(id) == null ? 1 : 0;
                }
                return missed;
              });

      Lock lock = scheduler.schedulerLock();
      for (int i = 0; i < RESIZES; i++) {
        lock.lock();
        try {
          scheduler.resizer().resize(rmNode, Resource.newInstance(4096 + i % 2, 4));
        } finally {
          lock.unlock();
        }
      }
      done.set(true);

      assertEquals(0, misses.get(60, TimeUnit.SECONDS));
      assertNull(scheduler.getNode(NodeId.newInstance("elsewhere", 1)));
    }
  }
}
