package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNodeEventType;
import org.elastane.natives.Natives;
import org.elastane.natives.NativesForTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The core is told which nodes are being decommissioned gracefully. */
class NodeDrainsTest {
  @TempDir Path directory;

  @Test
  void executorsAreToldToLeaveWhileTheirNodeIsBeingDecommissioned() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      MockNM node = cluster.registerReporting("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      // A node without a running application would be decommissioned at once.
      node.nodeHeartbeat(master.getApplicationAttemptId(), 1, ContainerState.RUNNING);
      Scene scene = new Scene(cluster.scheduler().link(), node, master);
      assertFalse(scene.anExecutorIsToldToLeave());

      cluster.resourceManager().sendNodeGracefulDecommission(node, 600);
      cluster.resourceManager().waitForState(node.getNodeId(), NodeState.DECOMMISSIONING);
      cluster.heartbeatUntil("an executor leaves", scene::anExecutorIsToldToLeave, node);

      cluster.resourceManager().sendNodeEvent(node, RMNodeEventType.RECOMMISSION);
      cluster.resourceManager().waitForState(node.getNodeId(), NodeState.RUNNING);
      cluster.heartbeatUntil("executors stay", () -> !scene.anExecutorIsToldToLeave(), node);
    }
  }

  private static final class Scene {
    private static final int NODE_NUMBER = 0;
    private static final long GIB = 1L << 30;

    /** An executor is not told to leave before it has run for 30 s. */
    private static final long AGE_MS = 60_000;

    private final CoreLink link;
    private final MockNM node;
    private final MockAM master;
    private long nextContainer = 1000;

    Scene(CoreLink link, MockNM node, MockAM master) {
      this.link = link;
      this.node = node;
      this.master = master;
    }

    /** The core is told of an executor that has run for some time, the node's agent reports. */
    boolean anExecutorIsToldToLeave() {
      long core = link.core().handleForTest();
      long nowMs = System.currentTimeMillis();
      String executor =
          ContainerId.newContainerId(master.getApplicationAttemptId(), nextContainer++).toString();
      int application =
          link.applications().find(master.getApplicationAttemptId().getApplicationId()).number;
      Natives.commit(
          core, executor, application, NODE_NUMBER, false, 1, GIB, 1, false, nowMs - AGE_MS, nowMs);
      byte[] body =
          NativesForTest.reportBody(node.getvCores() * 1000, node.getMemory() * (GIB >> 10));
      byte[] reply =
          link.core().report(node.getNodeId().toString(), TestCluster.PROTOCOL_VERSION, body);
      Natives.finished(core, executor, nowMs);
      return new String(reply, StandardCharsets.ISO_8859_1).contains(executor);
    }
  }
}
