package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core distinguishes kinds of executors by the priority of their requests. */
class RequestPriorityTest {
  @TempDir Path directory;

  @Test
  void theCoreIsToldThePriorityOfTheRequestThatIsServedNextAndOfEachContainer() throws Exception {
    Map<String, Integer> allocated = new TreeMap<>();
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      master.allocate(Arrays.asList(one(9, 512), one(3, 1024)), Collections.emptyList());
      cluster.resourceManager().drainEvents();
      assertEquals(3, cluster.coreStatus().at("/waiting/0/request_priority").asInt());

      cluster.heartbeatUntil("the first runs", () -> cluster.containers(master) == 2, node);
      assertEquals(9, cluster.coreStatus().at("/waiting/0/request_priority").asInt());
      cluster.heartbeatUntil("both run", () -> cluster.containers(master) == 3, node);

      for (RMContainer container :
          cluster
              .capacityScheduler()
              .getApplicationAttempt(master.getApplicationAttemptId())
              .getLiveContainers()) {
        allocated.put(
            container.getContainerId().toString(),
            container.isAMContainer() ? null : container.getAllocatedPriority().getPriority());
      }
    }
    assertEquals(3, allocated.size());
    assertEquals(allocated, Journal.requestPriorities(directory));
  }

  private static ResourceRequest one(int priority, int memoryMib) {
    return ResourceRequest.newInstance(
        Priority.newInstance(priority), ResourceRequest.ANY, Resource.newInstance(memoryMib, 1), 1);
  }
}
