package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.yarn.api.records.Priority;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.AbstractYarnScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.SimpleCandidateNodeSet;
import org.elastane.Await;

/**
 * One scheduler of {@link SchedulerBenchmark}, with its nodes and applications: 100 nodes of 64 GiB
 * with eight containers of 2 GiB each, and one node of 256 GiB, which is full. The large node sends
 * no heartbeat in a measured block; it makes containers possible that fit no other node.
 */
class SchedulerSide implements AutoCloseable {
  static final int NODES = 100;

  private static final int RUNNING_ON_NODE = 8;
  private static final Resource RUNNING = Resource.newInstance(2048, 1);
  static final Resource LARGE_NODE = Resource.newInstance(256 * 1024, 64);
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  final TestCluster cluster;
  final List<MockNM> nodes = new ArrayList<>();
  final MockAM runs;
  final List<MockAM> waiting;

  private final WaitingCase waits;
  private final int queues;
  private final boolean isAsynchronous;

  /** The thread that commits what the scheduling threads propose; null without such threads. */
  private final Thread committer;

  private final WaitingApplications applications;
  private final ResourceScheduler scheduler;
  private final List<RMNode> rmNodes = new ArrayList<>();
  private final RMNode largeNode;
  private int nextNode;

  SchedulerSide(
      Class<? extends ResourceScheduler> schedulerClass, SchedulerCase measured, Path directory)
      throws Exception {
    waits = measured.waits;
    queues = measured.queues;
    isAsynchronous = measured.isAsynchronous;
    Set<Thread> others = Thread.getAllStackTraces().keySet();
    cluster = TestCluster.start(measured.configuration(schedulerClass, directory));
    try {
      committer = isAsynchronous ? committerAmongNew(others) : null;
      scheduler = cluster.resourceManager().getResourceScheduler();
      applications = new WaitingApplications(cluster.resourceManager());
      for (int i = 0; i < NODES; i++) {
        rmNodes.add(register(1 + i, 65536, 32));
      }
      largeNode =
          register(1 + NODES, (int) LARGE_NODE.getMemorySize(), LARGE_NODE.getVirtualCores());
      runs = applications.launch(Collections.singletonList(SchedulerCase.queue(0))).get(0);
      List<String> queuesOfApplications = new ArrayList<>();
      for (int i = 0; i < measured.pending; i++) {
        queuesOfApplications.add(SchedulerCase.queue(i % queues));
      }
      waiting = applications.launch(queuesOfApplications);
    } catch (Throwable t) {
      // Nobody can close an object whose constructor threw.
      try {
        cluster.close();
      } catch (Throwable failed) {
        t.addSuppressed(failed);
      }
      throw t;
    }
  }

  private RMNode register(int port, int memoryMib, int virtualCores) throws Exception {
    MockNM node = cluster.register(name(port), memoryMib, virtualCores);
    nodes.add(node);
    return cluster.resourceManager().getRMContext().getRMNodes().get(node.getNodeId());
  }

  private static String name(int port) {
    return "127.0.0.1:" + port;
  }

  /** Fills the nodes as far as the case says, and lets the applications wait. */
  void begin() throws Exception {
    applications.ask(runs, Collections.singletonList(ask(2, LARGE_NODE, 1)));
    tell(runs, 2, LARGE_NODE);
    betweenBlocks();
    until("the large node is full", 1, () -> update(largeNode));
    applications.ask(runs, Collections.singletonList(ask(1, RUNNING, NODES * RUNNING_ON_NODE)));
    tell(runs, 1, RUNNING);
    betweenBlocks();
    until("containers run", 1 + NODES * RUNNING_ON_NODE, this::updateNext);
    for (int i = 0; i < waiting.size(); i++) {
      boolean isFirstOfItsQueue = i < queues;
      applications.ask(waiting.get(i), waits.asks(isFirstOfItsQueue, name(1 + i % NODES)));
      tell(waiting.get(i), WaitingCase.REQUEST_PRIORITY, waits.size(isFirstOfItsQueue));
    }
    if (waits.hasUserLimit()) {
      untilNothingIsPlaced();
    }
  }

  private void untilNothingIsPlaced() throws Exception {
    long began = System.nanoTime();
    long placedLastNs = began;
    int placed = placed();
    while (System.nanoTime() - placedLastNs < Duration.ofSeconds(3).toNanos()) {
      betweenBlocks();
      resizeNodes();
      for (int i = 0; i < NODES; i++) {
        updateNext();
      }
      awaitCommits();
      if (placed() != placed) {
        placed = placed();
        placedLastNs = System.nanoTime();
      }
      if (System.nanoTime() - began > DEADLINE.toNanos()) {
        throw new IllegalStateException("containers are still placed after " + DEADLINE);
      }
    }
  }

  private static ResourceRequest ask(int priority, Resource size, int count) {
    return ResourceRequest.newInstance(
        Priority.newInstance(priority), ResourceRequest.ANY, size, count);
  }

  /** With asynchronous scheduling a proposal may be rejected, and is made again. */
  private void until(String what, int expected, Runnable update) throws Exception {
    for (int i = 0; placed() < expected; i++) {
      if (i > 2 * expected + NODES) {
        throw new IllegalStateException(
            scheduler.getClass().getSimpleName() + ": " + what + ": " + placed());
      }
      update.run();
      awaitCommits();
    }
  }

  /** The containers that the scheduler has placed and that have not ended. */
  final int placed() {
    int placed = 0;
    for (SchedulerNode node : schedulerNodes()) {
      placed += node.getNumContainers();
    }
    return placed;
  }

  private long reservedNodes() {
    return schedulerNodes().stream().filter(node -> node.getReservedContainer() != null).count();
  }

  // Queue metrics would not do: all ResourceManagers of a JVM share those of a queue name.
  private List<SchedulerNode> schedulerNodes() {
    AbstractYarnScheduler<?, ?> abstractScheduler = (AbstractYarnScheduler<?, ?>) scheduler;
    List<SchedulerNode> found = new ArrayList<>();
    for (MockNM node : nodes) {
      found.add(abstractScheduler.getSchedulerNode(node.getNodeId()));
    }
    return found;
  }

  /** The CPU times of heartbeats, one after the other, each of the next node. */
  final double[] block(int updates) throws Exception {
    betweenBlocks();
    resizeNodes();
    int placed = placed();
    double committedUs = committerUs();
    double[] tookUs = new double[updates];
    for (int i = 0; i < updates; i++) {
      tookUs[i] = CpuTimes.ofUs(this::updateNext);
      updated();
    }
    if (isAsynchronous) {
      awaitCommits();
      // Each has its equal part of what its commit cost on the other thread.
      double committedEachUs = (committerUs() - committedUs) / updates;
      Arrays.setAll(tookUs, i -> tookUs[i] + committedEachUs);
    }
    check(placed() - placed, updates);
    if (waits.places()) {
      waiting.forEach(applications::release);
      cluster.resourceManager().drainEvents();
    }
    return tookUs;
  }

  /** Elastane resizes nodes in heartbeats, which place nothing with asynchronous scheduling. */
  private void resizeNodes() {
    if (isAsynchronous) {
      rmNodes.forEach(this::sendHeartbeat);
    }
  }

  /** Waits until the thread that commits waits for proposals. */
  private void awaitCommits() throws Exception {
    if (!isAsynchronous) {
      return;
    }
    CapacityScheduler capacity = cluster.capacityScheduler();
    Await.until(
        "what was proposed is committed",
        () ->
            capacity.getAsyncSchedulingPendingBacklogs() == 0
                && committer.getState() == Thread.State.WAITING
                && Arrays.stream(committer.getStackTrace())
                    .anyMatch(frame -> frame.getMethodName().equals("take")));
  }

  private double committerUs() {
    return committer == null ? 0 : CpuTimes.ofThreadUs(committer);
  }

  private static Thread committerAmongNew(Set<Thread> others) {
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread instanceof CapacityScheduler.ResourceCommitterService
          && !others.contains(thread)) {
        return thread;
      }
    }
    throw new IllegalStateException("no thread commits");
  }

  private void check(int placedInBlock, int updates) {
    int expected = waits.places() ? updates : 0;
    // With asynchronous scheduling a proposal may be rejected because of another one before it.
    int least = isAsynchronous ? expected * 9 / 10 : expected;
    if (placedInBlock < least || placedInBlock > expected || reservedNodes() != 0) {
      throw new IllegalStateException(
          String.format(
              "%s, %s: %d heartbeats placed %d containers instead of %d, and %d nodes are reserved",
              scheduler.getClass().getSimpleName(),
              waits,
              updates,
              placedInBlock,
              expected,
              reservedNodes()));
    }
  }

  private void updateNext() {
    update(rmNodes.get(nextNode));
    nextNode = (nextNode + 1) % NODES;
  }

  private void update(RMNode node) {
    if (isAsynchronous) {
      // As the scheduling threads do, one node after the other.
      CapacityScheduler capacity = cluster.capacityScheduler();
      capacity.allocateContainersToNode(
          new SimpleCandidateNodeSet<>(capacity.getNode(node.getNodeID())), false);
    } else {
      sendHeartbeat(node);
    }
  }

  private void sendHeartbeat(RMNode node) {
    scheduler.handle(new NodeUpdateSchedulerEvent(node));
  }

  /** What is known of an application's containers, where the scheduler uses it. */
  void tell(MockAM master, int requestPriority, Resource size) {}

  /** Before a block, whose time does not count this. */
  void betweenBlocks() throws IOException {
    if (scheduler instanceof FairScheduler fair) {
      // A thread of its own does this every 500 ms, which is after the asks changed.
      fair.update();
    }
  }

  /** After a heartbeat, whose time does not count this. */
  void updated() {}

  /** Fails if the scheduler did not take part as it should. */
  void checkAtTheEnd() throws IOException {
    if (!(scheduler instanceof CapacityScheduler capacity)) {
      return;
    }
    int active = 0;
    for (int i = 0; i < queues; i++) {
      active += ((LeafQueue) capacity.getQueue(SchedulerCase.queue(i))).getNumActiveApplications();
    }
    if (active != waiting.size() + 1) {
      throw new IllegalStateException("only " + active + " applications are active");
    }
  }

  @Override
  public void close() {
    cluster.close();
  }
}
