package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptState;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplication;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerApp;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.Await;
import org.elastane.natives.NativesForTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** A core that failed comes back and knows what the scheduler knows. */
class CoreRecoveryTest {
  /** The core's clock does not follow the machine's. */
  private static final long CLOCKS_DIFFER_BY_MS = 500;

  @TempDir Path directory;

  @ParameterizedTest
  @ValueSource(strings = {"observe", "enforce"})
  void afterARefreshOfTheQueuesTheNewCoreKnowsWhatTheSchedulerKnows(String mode) throws Exception {
    Configuration conf = TestCluster.configuration(ElastaneScheduler.class, mode, directory);
    TestCluster.queues(conf, "a", "b");
    try (TestCluster cluster = TestCluster.start(conf)) {
      cluster.scheduler().link().recovery().setWaitsForTest();
      MockNM one = cluster.register("127.0.0.1:1", 8192, 8);
      MockNM gone = cluster.register("127.0.0.1:2", 4096, 4);
      MockAM first = cluster.launch("a", one);
      MockAM ending = cluster.launch("b", one);
      cluster.ask(first, 1024, 3);
      cluster.heartbeatUntil("it has three", () -> cluster.containers(first) == 4, one, gone);
      cluster.ask(first, 6144, 2);
      cluster.heartbeat(one);
      fail(cluster);

      // What the old core was never told of:
      MockNM later = cluster.register("127.0.0.1:3", 16384, 16);
      MockAM second = cluster.launch("b", later);
      cluster.ask(second, 1024, 2);
      cluster.heartbeatUntil("it has two", () -> cluster.containers(second) == 3, later);
      cluster.ask(second, 512, 5);
      cluster.end(one, first, 2);
      cluster.resourceManager().killApp(ending.getApplicationAttemptId().getApplicationId());
      cluster.resourceManager().unRegisterNode(gone);
      cluster.submit("a");
      cluster.resourceManager().drainEvents();

      refresh(cluster, conf);
      Await.until("the core is back", cluster.scheduler().link().guard()::inService);
      assertCoreEqualsScheduler(cluster);

      for (int i = 0; i < 5; i++) {
        cluster.heartbeat(one, later);
        assertCoreEqualsScheduler(cluster);
      }
      MockAM third = cluster.launch("b", cluster.register("127.0.0.1:4", 4096, 4));
      cluster.ask(third, 1024, 1);
      cluster.end(later, second, 2);
      assertCoreEqualsScheduler(cluster);
      assertEquals(1, cluster.metrics().coreFailureCount());
      assertEquals(0, cluster.metrics().refusedCallCount());
    }
  }

  @Test
  void aCoreThatIsBackRaisesNodesAndOrdersApplications() throws Exception {
    try (TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory))) {
      cluster.scheduler().link().recovery().setWaitsForTest(1);
      MockNM node = cluster.registerRaised("127.0.0.1:1", 4096, 4);
      MockAM master = cluster.launch("default", node);
      fail(cluster);
      Await.until("the core is back by itself", cluster.scheduler().link().guard()::inService);
      cluster.heartbeat(node);
      assertEquals(4096, cluster.bookableMib(node), "it has not reported to this core");

      cluster.raise(node);
      long placed = cluster.metrics().placedByCoreCount();
      cluster.ask(master, 256, 1);
      cluster.heartbeatUntil("it is placed", () -> cluster.containers(master) == 2, node);
      assertEquals(placed + 1, cluster.metrics().placedByCoreCount());
      assertCoreEqualsScheduler(cluster);
    }
  }

  @Test
  void aCoreThatFailsAgainAndAgainStaysOutOfServiceUntilARefresh() throws Exception {
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(CoreRecovery.class));
    Configuration conf = TestCluster.enforcing(directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      CoreGuard guard = cluster.scheduler().link().guard();
      cluster.scheduler().link().recovery().setWaitsForTest(1, 1, 1);
      for (int i = 0; i < 3; i++) {
        fail(cluster);
        Await.until("the core is back", guard::inService);
      }
      fail(cluster);
      Await.until(
          "it is given up",
          () -> log.getOutput().contains("stays out of service after 3 attempts"));
      assertFalse(guard.inService());

      refresh(cluster, conf);
      Await.until("the core is back", guard::inService);
      assertEquals(4, cluster.metrics().coreFailureCount());
    } finally {
      log.stopCapturing();
    }
  }

  @ParameterizedTest(name = "asynchronous scheduling {0}")
  @ValueSource(booleans = {false, true})
  void aCoreThatFailsWhileContainersComeAndGoKnowsThemAll(boolean asynchronously) throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    conf.setBoolean(CapacitySchedulerConfiguration.SCHEDULE_ASYNCHRONOUSLY_ENABLE, asynchronously);
    try (TestCluster cluster = TestCluster.start(conf)) {
      CoreGuard guard = cluster.scheduler().link().guard();
      cluster.scheduler().link().recovery().setWaitsForTest(new long[1000]);
      MockNM one = cluster.register("127.0.0.1:1", 8192, 32);
      MockNM other = cluster.register("127.0.0.1:2", 8192, 32);
      RMApp application = cluster.submit("default");
      cluster.heartbeatUntil(
          "the master has a container",
          () ->
              application.getCurrentAppAttempt().getAppAttemptState()
                  == RMAppAttemptState.ALLOCATED,
          one,
          other);
      MockAM master =
          MockRM.launchAMWhenAsyncSchedulingEnabled(application, cluster.resourceManager());
      master.registerAppAttempt();
      AtomicBoolean isEnding = new AtomicBoolean();
      Thread failing =
          new Thread(
              () -> {
                while (!isEnding.get()) {
                  guard.takeOutOfService(
                      "a test", new IllegalStateException("asked for by a test"));
                  while (!guard.inService()) {
                    LockSupport.parkNanos(100_000);
                  }
                }
              });
      failing.start();
      long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      for (int i = 0; i < 100 || cluster.metrics().coreFailureCount() <= 3; i++) {
        assertTrue(System.nanoTime() - deadlineNs < 0, "the core failed too seldom");
        cluster.ask(master, 256, 1 + i % 3);
        cluster.heartbeat(one, other);
        List<ContainerId> running = cluster.containerIds(master);
        if (running.size() > 10) {
          master.allocate(Collections.emptyList(), running.subList(1, 9));
        }
      }
      isEnding.set(true);
      failing.join();
      cluster.ask(master, 256, 0);
      cluster.heartbeatUntil(
          "nothing waits",
          () -> PendingAsks.of(attempt(cluster, master)).getCount() == 0,
          one,
          other);

      assertCoreEqualsScheduler(cluster);
      assertTrue(cluster.metrics().coreFailureCount() > 3);
      assertEquals(0, cluster.metrics().refusedCallCount());
    }
  }

  private static FiCaSchedulerApp attempt(TestCluster cluster, MockAM master) {
    return cluster.scheduler().getApplicationAttempt(master.getApplicationAttemptId());
  }

  @Test
  void aResourceManagerThatStopsWhileItsCoreIsOutOfServiceStops() throws Exception {
    TestCluster cluster = TestCluster.start(TestCluster.enforcing(directory));
    cluster.scheduler().link().recovery().setWaitsForTest(60_000);
    fail(cluster);
    cluster.close();
    Await.until(
        "no thread is left",
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().equals("elastane-recovery")));
    assertTrue(Files.exists(directory.resolve("elastane/depository.sqlite")));
  }

  @Test
  void aDeadlineCountsFromTheSubmissionAlsoWhenANewCoreIsToldOfIt() throws Exception {
    Configuration conf = TestCluster.enforcing(directory);
    try (TestCluster cluster = TestCluster.start(conf)) {
      cluster.scheduler().link().recovery().setWaitsForTest();
      cluster.register("127.0.0.1:1", 4096, 4);
      MockRM resourceManager = cluster.resourceManager();
      RMApp application =
          MockRMAppSubmitter.submit(
              resourceManager,
              MockRMAppSubmissionData.Builder.createWithMemory(1024, resourceManager)
                  .withApplicationTags(Collections.singleton("elastane.deadline=90m"))
                  .build());
      resourceManager.drainEvents();
      long deadlineMs = application.getSubmitTime() + TimeUnit.MINUTES.toMillis(90);
      assertEquals(0, (deadlineMs(cluster) - deadlineMs) / CLOCKS_DIFFER_BY_MS);
      fail(cluster);
      long againMs = application.getSubmitTime() + 2 * CLOCKS_DIFFER_BY_MS;
      Await.until("the submission is a while ago", () -> System.currentTimeMillis() > againMs);
      refresh(cluster, conf);
      Await.until("the core is back", cluster.scheduler().link().guard()::inService);
      assertEquals(0, (deadlineMs(cluster) - deadlineMs) / CLOCKS_DIFFER_BY_MS);
    }
  }

  /** The deadline of the first application that waits. */
  private static long deadlineMs(TestCluster cluster) throws Exception {
    return cluster.coreStatus().at("/waiting/0/deadline/at_ms").asLong();
  }

  private static void fail(TestCluster cluster) {
    CoreLink link = cluster.scheduler().link();
    long failures = cluster.metrics().coreFailureCount();
    link.guard().run("a test", () -> NativesForTest.panic(link.core().handleForTest()));
    assertEquals(failures + 1, cluster.metrics().coreFailureCount());
  }

  /** As {@code yarn rmadmin -refreshQueues}. */
  private static void refresh(TestCluster cluster, Configuration conf) throws Exception {
    cluster.scheduler().reinitialize(conf, cluster.resourceManager().getRMContext());
  }

  /** The core's nodes, bookings and waiting applications are the scheduler's. */
  private static void assertCoreEqualsScheduler(TestCluster cluster) throws Exception {
    Map<String, String> schedulers = new TreeMap<>();
    for (FiCaSchedulerNode node : cluster.scheduler().getAllNodes()) {
      schedulers.put(
          node.getNodeID().toString(),
          String.format(
              "%d containers, booked %d MiB and %d cores, registered %d MiB and %d cores",
              node.getNumContainers(),
              node.getAllocatedResource().getMemorySize(),
              node.getAllocatedResource().getVirtualCores(),
              node.getRMNode().getTotalCapability().getMemorySize(),
              node.getRMNode().getTotalCapability().getVirtualCores()));
    }
    for (SchedulerApplication<FiCaSchedulerApp> application :
        cluster.scheduler().getSchedulerApplications().values()) {
      FiCaSchedulerApp attempt = application.getCurrentAppAttempt();
      int pending = attempt == null ? 0 : PendingAsks.of(attempt).getCount();
      if (pending > 0) {
        schedulers.put(attempt.getApplicationId().toString(), "waits for " + pending);
      }
    }
    JsonNode status = cluster.coreStatus();
    Map<String, String> cores = new TreeMap<>();
    for (JsonNode node : status.get("nodes")) {
      cores.put(
          node.get("node").asText(),
          String.format(
              "%d containers, booked %d MiB and %d cores, registered %d MiB and %d cores",
              node.get("containers").asInt(),
              node.get("booked_memory_bytes").asLong() >> 20,
              node.get("booked_vcores").asInt(),
              node.get("registered_memory_bytes").asLong() >> 20,
              node.get("registered_vcores").asInt()));
    }
    for (JsonNode waiting : status.get("waiting")) {
      cores.put(
          waiting.get("application").asText(), "waits for " + waiting.get("containers").asInt());
    }
    assertEquals(schedulers, cores);
  }
}
