package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.ResourceOption;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.elastane.Await;
import org.elastane.conf.ElastaneConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** One part of Elastane fails; all others, and the ResourceManager, go on. */
class PartFailureTest {
  @TempDir Path directory;

  @Test
  @SuppressWarnings("try") // closes the socket before the end
  void whileThePortIsTakenThereAreNoReportsAndThenThereAre() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(Part.class));
    Configuration conf = TestCluster.enforcing(directory);
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:" + taken.getLocalPort());
      try (TestCluster cluster = TestCluster.start(conf)) {
        CoreLink link = cluster.scheduler().link();
        assertEquals(Collections.singletonList("reports"), link.parts().outOfService());
        assertTrue(cluster.metrics().partFailureCount() > 0);
        schedules(cluster);

        taken.close();
        Await.until("the port is open", () -> link.parts().outOfService().isEmpty());
        assertEquals(taken.getLocalPort(), link.activeServices().usageServer().address().getPort());
        assertEquals(1, count(log, "goes on without reports"));
        assertEquals(1, count(log, "reports: in service again"));
      }
    } finally {
      log.stopCapturing();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"observe", "enforce"})
  void aLockedDepositoryIsUsedOnceItIsFree(String mode) throws Exception {
    Path depository = Files.createDirectories(directory.resolve("elastane"));
    Process other = Locker.lock(Files.createFile(depository.resolve("depository.sqlite")));
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, mode, directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      CoreLink link = cluster.scheduler().link();
      assertEquals(Collections.singletonList("depository"), link.parts().outOfService());
      assertTrue(failures(link, "depository") > 0);
      schedules(cluster);

      other.destroyForcibly().waitFor();
      Await.until("the depository is used", () -> link.parts().outOfService().isEmpty());
      assertEquals(0, cluster.metrics().coreFailureCount());
    } finally {
      other.destroyForcibly();
    }
  }

  @Test
  void aJournalThatCannotBeWrittenIsTriedAgain() throws Exception {
    Path journal = Files.createDirectory(directory.resolve("decisions.jsonl"));
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      CoreLink link = cluster.scheduler().link();
      assertEquals(Collections.singletonList("journal"), link.parts().outOfService());
      schedules(cluster);

      Files.delete(journal);
      Await.until("the journal is written", () -> link.parts().outOfService().isEmpty());
      assertTrue(failures(link, "journal") > 0);
    }
  }

  @Test
  void aStatusThatFailsCostsTheStatusOnly() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      CoreLink link = cluster.scheduler().link();
      String status =
          link.guard()
              .part(
                  link.parts().status,
                  "{}",
                  () -> {
                    throw new IllegalStateException("asked for by a test");
                  });

      assertEquals("{}", status);
      assertEquals(Collections.singletonList("status"), link.parts().outOfService());
      assertEquals(1, cluster.metrics().partFailureCount());
      schedules(cluster);
      Await.until(
          "the status is there again",
          () ->
              link.guard().part(link.parts().status, "{}", link.core()::status).contains("nodes"));
      assertTrue(link.parts().outOfService().isEmpty());
    }
  }

  @Test
  void memoryPreemptionThatFailsIsTriedAgain() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CannotPreempt.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM node = cluster.register("127.0.0.1:1", 2048, 2);
      CannotPreempt scheduler = (CannotPreempt) cluster.scheduler();
      Parts parts = scheduler.link().parts();
      scheduler.failing = true;
      cluster.heartbeatUntil("it fails", scheduler::hasFailed, node);

      assertEquals(Collections.singletonList("memory preemption"), parts.outOfService());
      assertTrue(scheduler.link().guard().inService());
      scheduler.failing = false;
      cluster.heartbeatUntil("it works", () -> parts.outOfService().isEmpty(), node);
      assertEquals(0, cluster.metrics().coreFailureCount());
    }
  }

  @Test
  void aNodeThatCannotBeRaisedKeepsNoOtherFromItAndIsTriedAgain() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, CannotResize.class, ResourceScheduler.class);
    try (TestCluster cluster = TestCluster.start(conf)) {
      MockNM one = cluster.register("127.0.0.1:1", 4096, 4);
      CannotResize scheduler = (CannotResize) cluster.scheduler();
      scheduler.refused = one.getNodeId();
      cluster.report(one);
      MockNM other = cluster.registerRaised("127.0.0.1:2", 4096, 4);
      cluster.heartbeatUntil("it is counted", () -> cluster.metrics().partFailureCount() > 0, one);

      assertTrue(scheduler.link().guard().inService());
      assertEquals(0, cluster.metrics().coreFailureCount());
      assertEquals(4096, cluster.bookableMib(one));

      scheduler.refused = null;
      cluster.heartbeatUntil("both are raised", () -> cluster.bookableMib(one) > 4096, one, other);
    }
  }

  /** An application gets its containers. */
  private static void schedules(TestCluster cluster) throws Exception {
    MockNM node = cluster.register("127.0.0.1:9", 4096, 4);
    MockAM master = cluster.launch("default", node);
    cluster.ask(master, 1024, 2);
    cluster.heartbeatUntil("its containers run", () -> cluster.containers(master) == 3, node);
    assertTrue(cluster.scheduler().link().guard().inService());
    assertNotNull(cluster.coreStatus().get("nodes").get(0));
  }

  private static long count(LogCapturer log, String words) {
    return log.getOutput().lines().filter(line -> line.contains(words)).count();
  }

  /** Fails while it asks how long to wait before it preempts. */
  public static final class CannotPreempt extends ElastaneScheduler {
    private volatile boolean failing;
    private volatile boolean failed;

    @Override
    public CapacitySchedulerConfiguration getConfiguration() {
      boolean forPreemption =
          failing
              && StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                  .walk(
                      frames ->
                          frames.anyMatch(it -> it.getDeclaringClass() == MemoryPreemption.class));
      if (forPreemption) {
        failed = true;
        throw new IllegalStateException("asked for by a test");
      }
      return super.getConfiguration();
    }

    boolean hasFailed() {
      return failed;
    }
  }

  /** Fails to resize a node. */
  public static final class CannotResize extends ElastaneScheduler {
    private volatile NodeId refused;

    @Override
    public void updateNodeResource(RMNode node, ResourceOption size) {
      if (node.getNodeID().equals(refused)) {
        throw new IllegalStateException("refused by a test");
      }
      super.updateNodeResource(node, size);
    }
  }

  /** Another process that locks a file as SQLite does to write it. */
  static final class Locker {
    private static final long PENDING_BYTE = 0x40000000L;
    private static final long LENGTH = 512;

    private Locker() {}

    static Process lock(Path file) throws Exception {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-Xmx64m",
                  "-cp",
                  System.getProperty("java.class.path"),
                  Locker.class.getName(),
                  file.toString())
              .redirectError(ProcessBuilder.Redirect.INHERIT)
              .start();
      assertEquals('L', process.getInputStream().read());
      return process;
    }

    @SuppressWarnings("resource") // until the process ends
    public static void main(String[] arguments) throws Exception {
      new RandomAccessFile(arguments[0], "rw").getChannel().lock(PENDING_BYTE, LENGTH, false);
      System.out.print('L');
      System.out.flush();
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  private static int failures(CoreLink link, String part) {
    return link.status().snapshot().path(part + "_failures").asInt();
  }
}
