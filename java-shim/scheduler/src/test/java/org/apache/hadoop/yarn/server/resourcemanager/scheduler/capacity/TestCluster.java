package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.apache.hadoop.net.NetworkTopology;
import org.apache.hadoop.yarn.api.records.ContainerId;
import org.apache.hadoop.yarn.api.records.ContainerState;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRM;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmissionData;
import org.apache.hadoop.yarn.server.resourcemanager.MockRMAppSubmitter;
import org.apache.hadoop.yarn.server.resourcemanager.recovery.RMStateStore;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicyWithExclusivePartitions;
import org.apache.hadoop.yarn.util.resource.DominantResourceCalculator;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativesForTest;

/** A ResourceManager in this JVM with simulated NodeManagers and ApplicationMasters. */
final class TestCluster implements AutoCloseable {
  /** The version of a report's body. */
  static final int PROTOCOL_VERSION = 5;

  /** How far nodes may be raised. */
  static final double MAX_RATIO = 1.5;

  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  private final MockRM resourceManager;
  private MockAM smallOnesWait;
  private boolean bookingsDiffer;

  private TestCluster(MockRM resourceManager) {
    this.resourceManager = resourceManager;
  }

  /** One queue, root.default, for all users and any number of ApplicationMasters. */
  static Configuration configuration(
      Class<? extends ResourceScheduler> scheduler, String mode, Path directory) {
    Configuration conf = new YarnConfiguration();
    conf.setClass(YarnConfiguration.RM_SCHEDULER, scheduler, ResourceScheduler.class);
    conf.set(ElastaneConfiguration.MODE, mode);
    conf.set(ElastaneConfiguration.USAGE_ADDRESS, "127.0.0.1:0");
    conf.set("hadoop.tmp.dir", directory.toString());
    // The default is one file for all ResourceManagers of a machine.
    conf.set(
        YarnConfiguration.FS_NODE_ATTRIBUTE_STORE_ROOT_DIR,
        directory.resolve("node-attribute").toUri().toString());
    conf.set("yarn.scheduler.elastane.journal.file", directory.resolve(Journal.FILE).toString());
    conf.setDouble("yarn.scheduler.elastane.overcommit.max-ratio", MAX_RATIO);
    // A raised node grows with each interval, and one report is to last for a test.
    conf.set("yarn.scheduler.elastane.report.interval-ms", "1000");
    conf.set("yarn.scheduler.elastane.report.missed", "100");
    conf.set("yarn.scheduler.minimum-allocation-mb", "256");
    conf.setBoolean("yarn.scheduler.include-port-in-node-name", true);
    // No group mapping is needed for test users.
    conf.set("hadoop.user.group.static.mapping.overrides", "somebody=somebody");
    conf.set(
        CapacitySchedulerConfiguration.RESOURCE_CALCULATOR_CLASS,
        DominantResourceCalculator.class.getName());
    conf.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1.0");
    queues(conf, "default");
    return conf;
  }

  static Configuration enforcing(Path directory) {
    return configuration(ElastaneScheduler.class, "enforce", directory);
  }

  /** Leaf queues below root with equal shares; each may use the whole cluster. */
  static void queues(Configuration conf, String... names) {
    conf.set("yarn.scheduler.capacity.root.queues", String.join(",", names));
    for (String name : names) {
      String prefix = "yarn.scheduler.capacity.root." + name;
      conf.set(prefix + ".capacity", Float.toString(100f / names.length));
      conf.set(prefix + ".maximum-capacity", "100");
      conf.set(prefix + ".user-limit-factor", "100");
    }
  }

  /** Gives the queue its own order; the core can only refuse commits there. */
  static void anotherPolicy(Configuration conf) {
    conf.set(
        "yarn.scheduler.capacity.root.default.ordering-policy",
        FifoOrderingPolicyWithExclusivePartitions.class.getName());
  }

  static TestCluster start(Configuration conf) {
    return start(conf, null);
  }

  /**
   * @param store the state stored by another ResourceManager; null for none
   */
  static TestCluster start(Configuration conf, RMStateStore store) {
    DefaultMetricsSystem.setMiniClusterMode(true);
    MockRM resourceManager = new MockRM(conf, store);
    quiet();
    resourceManager.start();
    quiet();
    return new TestCluster(resourceManager);
  }

  /** Reduces MockRM's log, since other tests of this JVM read Elastane's log lines. */
  static void quiet() {
    LogManager.getRootLogger().setLevel(Level.WARN);
    LogManager.getLogger("org.elastane").setLevel(Level.INFO);
  }

  MockRM resourceManager() {
    return resourceManager;
  }

  CapacityScheduler capacityScheduler() {
    return (CapacityScheduler) resourceManager.getResourceScheduler();
  }

  ElastaneScheduler scheduler() {
    return (ElastaneScheduler) resourceManager.getResourceScheduler();
  }

  ElastaneMetrics metrics() {
    return scheduler().link().metrics();
  }

  MockNM register(String node, int memoryMib, int virtualCores) throws Exception {
    MockNM nodeManager = resourceManager.registerNode(node, memoryMib, virtualCores);
    resourceManager.drainEvents();
    return nodeManager;
  }

  /** The node's agent reports the size that the NodeManager registered. */
  void report(MockNM node) throws IOException {
    report(node, null);
  }

  /**
   * @param memoryVictim the container to preempt because the node is short of memory; null for none
   */
  void report(MockNM node, ContainerId memoryVictim) throws IOException {
    report(node, node.getMemory(), memoryVictim);
  }

  /** The node's agent finds another amount of memory than the NodeManager registered. */
  void reportMemory(MockNM node, int memoryMib) throws IOException {
    report(node, memoryMib, null);
  }

  private void report(MockNM node, long memoryMib, ContainerId memoryVictim) throws IOException {
    CoreLink link = scheduler().link();
    byte[] body =
        NativesForTest.reportBody(
            node.getvCores() * 1000,
            memoryMib * BYTES_PER_MIB,
            memoryVictim == null ? null : memoryVictim.toString());
    assertNotNull(
        new UsageReports(link.guard(), link.core(), link.metrics())
            .report(node.getNodeId(), PROTOCOL_VERSION, body));
  }

  /** A node that reports, so that the core decides about it. */
  MockNM registerReporting(String node, int memoryMib, int virtualCores) throws Exception {
    MockNM nodeManager = register(node, memoryMib, virtualCores);
    report(nodeManager);
    return nodeManager;
  }

  /** A node that reports and was raised as far as is allowed. */
  MockNM registerRaised(String node, int memoryMib, int virtualCores) throws Exception {
    MockNM nodeManager = registerReporting(node, memoryMib, virtualCores);
    raise(nodeManager);
    return nodeManager;
  }

  /** Raises a node as far as is allowed: small containers wait, and the node reports. */
  void raise(MockNM node) throws Exception {
    raiseTo((long) (node.getMemory() * MAX_RATIO * 0.97), node);
  }

  /** Raises a node on which containers run that are not known to need less than they request. */
  void raiseSomewhat(MockNM node) throws Exception {
    raiseTo(node.getMemory() + 1, node);
  }

  private void raiseTo(long least, MockNM node) throws Exception {
    letSmallOnesWait(node);
    long deadlineNs = System.nanoTime() + DEADLINE.toNanos();
    while (bookableMib(node) < least) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError("not raised within " + DEADLINE + ": " + node.getNodeId());
      }
      Thread.sleep(20);
      report(node);
      heartbeat(node);
    }
  }

  /**
   * An unmanaged application asks for containers that need next to nothing, on a host that the
   * cluster does not have. CapacityScheduler never places them, and they prove that more may be
   * booked.
   */
  void letSmallOnesWait(MockNM node) throws Exception {
    if (smallOnesWait != null) {
      // A new core was not told.
      foresee(smallOnesWait, 1, 1, 1);
      return;
    }
    RMApp application =
        MockRMAppSubmitter.submit(
            resourceManager,
            MockRMAppSubmissionData.Builder.createWithMemory(256, resourceManager)
                .withAppName("small ones")
                .withUser("somebody")
                .withQueue(firstQueue())
                .withUnmanagedAM(true)
                .build());
    smallOnesWait = MockRM.launchUAM(application, resourceManager, node);
    smallOnesWait.registerAppAttempt();
    List<ResourceRequest> asks = new ArrayList<>();
    for (String place : Arrays.asList("nowhere", NetworkTopology.DEFAULT_RACK, "*")) {
      boolean relaxed = place.equals("nowhere");
      asks.add(
          ResourceRequest.newInstance(
              Priority.newInstance(1), place, Resource.newInstance(256, 1), 10_000, relaxed));
    }
    smallOnesWait.allocate(asks, Collections.emptyList());
    resourceManager.drainEvents();
    foresee(smallOnesWait, 1, 1, 1);
  }

  /** The first leaf queue. */
  private String firstQueue() {
    return capacityScheduler()
        .getConfiguration()
        .getTrimmedStrings("yarn.scheduler.capacity.root.queues")[0];
  }

  /** Containers of this request priority are predicted to need this for an hour. */
  void foresee(MockAM master, int requestPriority, int cpuMillicores, int memoryMib) {
    CoreLink link = scheduler().link();
    int number =
        link.applications().find(master.getApplicationAttemptId().getApplicationId()).number;
    NativesForTest.foresee(
        link.core().handleForTest(),
        number,
        requestPriority,
        cpuMillicores,
        memoryMib * BYTES_PER_MIB);
  }

  void heartbeat(MockNM... nodes) throws Exception {
    for (MockNM node : nodes) {
      node.nodeHeartbeat(true);
    }
    resourceManager.drainEvents();
  }

  /** Sends heartbeats until a condition holds. */
  void heartbeatUntil(String what, BooleanSupplier condition, MockNM... nodes) throws Exception {
    long deadlineNs = System.nanoTime() + DEADLINE.toNanos();
    heartbeat(nodes);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError("not within " + DEADLINE + ": " + what);
      }
      Thread.sleep(20);
      heartbeat(nodes);
    }
  }

  /** An application whose ApplicationMaster of 1 GiB and one virtual core runs on this node. */
  MockAM launch(String queue, MockNM node) throws Exception {
    return MockRM.launchAndRegisterAM(submit(queue), resourceManager, node);
  }

  RMApp submit(String queue) throws Exception {
    RMApp application =
        MockRMAppSubmitter.submit(
            resourceManager,
            MockRMAppSubmissionData.Builder.createWithMemory(1024, resourceManager)
                .withAppName("an application")
                .withUser("somebody")
                .withQueue(queue)
                .withUnmanagedAM(false)
                .build());
    resourceManager.drainEvents();
    return application;
  }

  /** The ApplicationMaster asks for containers of a size in MiB with one virtual core each. */
  void ask(MockAM master, int memoryMib, int count) throws Exception {
    master.allocate("*", memoryMib, count, Collections.emptyList());
    resourceManager.drainEvents();
  }

  void ask(MockAM master, Resource size, int count) throws Exception {
    ask(master, 1, size, count);
  }

  void ask(MockAM master, int requestPriority, Resource size, int count) throws Exception {
    master.allocate(
        Collections.singletonList(
            ResourceRequest.newInstance(
                Priority.newInstance(requestPriority), ResourceRequest.ANY, size, count)),
        Collections.emptyList());
    resourceManager.drainEvents();
  }

  /** The memory that an ApplicationMaster is told is left. */
  long headroomMib(MockAM master) throws Exception {
    return master
        .allocate(Collections.emptyList(), Collections.emptyList())
        .getAvailableResources()
        .getMemorySize();
  }

  /** The NodeManager reports that these containers of an application have ended. */
  void end(MockNM node, MockAM master, int... containers) throws Exception {
    for (int container : containers) {
      node.nodeHeartbeat(master.getApplicationAttemptId(), container, ContainerState.COMPLETE);
    }
    resourceManager.drainEvents();
  }

  FiCaSchedulerNode schedulerNode(MockNM node) {
    return capacityScheduler().getNode(node.getNodeId());
  }

  long allocatedMib(MockNM node) {
    return schedulerNode(node).getAllocatedResource().getMemorySize();
  }

  long bookableMib(MockNM node) {
    return schedulerNode(node).getTotalResource().getMemorySize();
  }

  /** The number of an application's running containers, including its master. */
  int containers(MockAM master) {
    return containerIds(master).size();
  }

  List<ContainerId> containerIds(MockAM master) {
    List<ContainerId> ids = new ArrayList<>();
    for (RMContainer container :
        capacityScheduler()
            .getApplicationAttempt(master.getApplicationAttemptId())
            .getLiveContainers()) {
      ids.add(container.getContainerId());
    }
    Collections.sort(ids);
    return ids;
  }

  JsonNode coreStatus() throws IOException {
    return new ObjectMapper().readTree(scheduler().link().core().status());
  }

  /** Stops the ResourceManager. The core must have booked what CapacityScheduler has. */
  @Override
  public void close() {
    try {
      if (!bookingsDiffer && resourceManager.getResourceScheduler() instanceof ElastaneScheduler) {
        Bookings.assertEqual(scheduler());
      }
    } finally {
      resourceManager.stop();
    }
  }

  /** In this test the core's bookings differ on purpose. */
  void bookingsDiffer() {
    bookingsDiffer = true;
  }
}
