package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockNodes;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativeLibrary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the core answered and no heartbeat has taken over yet. */
class BookableAnswersTest {
  private static final int NODES = 20;
  private static final Resource REGISTERED = Resource.newInstance(4096, 4);

  static {
    // Fields of a test use it.
    NativeLibrary.load();
  }

  @TempDir Path directory;

  private final CoreHandle core = new CoreHandle(true, new SteadyClock());
  private final CoreNodes nodes = new CoreNodes(core);
  private final Map<NodeId, FiCaSchedulerNode> schedulerNodes = new HashMap<>();
  private final List<RMNode> rmNodes = new ArrayList<>();
  private final CoreGuard guard = new CoreGuard(new ElastaneMetrics());
  private final Resizes resizes = new Resizes();
  private final ReentrantLock lock = new ReentrantLock();
  private final BookableCapacity bookable =
      new BookableCapacity(this::answer, nodes, schedulerNodes::get, resizes, lock);
  private int answered = 1500;
  private boolean failing;

  @BeforeEach
  void nodesRegister() {
    Configuration conf = TestCluster.enforcing(directory);
    core.setSettings(ElastaneConfiguration.settingsJson(conf));
    core.reopen();
    for (int i = 0; i < NODES; i++) {
      RMNode rmNode = MockNodes.newNodeInfo(1, REGISTERED, i, "host" + i, 1);
      rmNodes.add(rmNode);
      register(rmNode);
    }
  }

  private void register(RMNode rmNode) {
    schedulerNodes.put(rmNode.getNodeID(), new FiCaSchedulerNode(rmNode, false));
    nodes.added(rmNode, "");
    bookable.nodesChanged();
  }

  @AfterEach
  void close() {
    core.close();
  }

  /** Every node is to have one ratio. */
  private int answer(NumberBuffer told) {
    if (failing) {
      throw new IllegalStateException("asked for by a test");
    }
    int count = 0;
    for (RMNode rmNode : rmNodes) {
      told.putForTest(3 * count, nodes.find(rmNode.getNodeID()).number, answered, answered);
      count++;
    }
    return count;
  }

  private void heartbeatsUntilAllAreResized() {
    for (int i = 0; bookable.hasMoreToResize(); i++) {
      bookable.followOn(id(i % NODES));
      assertTrue(i < 10 * NODES, "nodes are left");
    }
  }

  private NodeId id(int node) {
    return rmNodes.get(node).getNodeID();
  }

  private long sizeMib(int node) {
    return schedulerNodes.get(id(node)).getTotalResource().getMemorySize();
  }

  private void anotherAnswerIsHeldAndANodeIsRefused() {
    bookable.follow();
    heartbeatsUntilAllAreResized();
    resizes.refused = id(3);
    answered = 1200;
    bookable.follow();
  }

  @Test
  void aCoreThatFailsWhileItsAnswerIsHeldLeavesNoThreadInALoop() {
    anotherAnswerIsHeldAndANodeIsRefused();
    assertTrue(bookable.hasMoreToResize());

    lowerAll();

    assertFalse(bookable.isLowered());
    assertEquals(6144, sizeMib(3));
    assertAllOthersAreLowered();
    resizes.refused = null;
    lowerAll();
    assertTrue(bookable.isLowered());
    assertEquals(4096, sizeMib(3));
    bookable.coreIsNew();
    heartbeatsUntilAllAreResized();
    assertEquals(4096, sizeMib(0), "the former core's answer is forgotten");
  }

  @Test
  void aCoreThatFailsInItsAnswerWhileANodeIsLeftLeavesNoThreadInALoop() {
    anotherAnswerIsHeldAndANodeIsRefused();
    guard.run("a test", this::heartbeatsUntilAllAreResized);
    guard.run("a test", this::heartbeatsUntilAllAreResized);
    failing = true;
    guard.run("a test", bookable::follow);
    assertFalse(guard.inService());

    lowerAll();

    assertAllOthersAreLowered();
  }

  private void lowerAll() {
    Enforcement enforcement = new Enforcement(bookable::isAnyRaised);
    enforcement.want(true);
    guard.takeOutOfService("a test", new IllegalStateException("asked for by a test"));
    LoweringAtFailure lowering = new LoweringAtFailure(guard, bookable, lock, enforcement);
    assertTimeoutPreemptively(Duration.ofSeconds(10), lowering::all);
  }

  private void assertAllOthersAreLowered() {
    for (int i = 0; i < NODES; i++) {
      if (i != 3) {
        assertEquals(4096, sizeMib(i), "node " + i);
      }
    }
  }

  @Test
  void aNodeThatRegistersAgainBeforeItIsResizedDoesNotTakeTheFormerRatio() {
    bookable.follow();
    bookable.followOn(id(0));
    assertEquals(4096, sizeMib(NODES - 1), "it waits");
    nodes.removed(id(NODES - 1));
    register(rmNodes.get(NODES - 1));

    heartbeatsUntilAllAreResized();

    assertEquals(6144, sizeMib(NODES - 2));
    assertEquals(4096, sizeMib(NODES - 1));
  }

  @Test
  void theLargestNodeIsFoundAnewBesideThreadsThatAskMeanwhile() throws Exception {
    Thread asking =
        new Thread(
            () -> {
              while (!Thread.currentThread().isInterrupted()) {
                bookable.largestRegistered();
              }
            });
    asking.start();
    try {
      for (int i = 0; i < 5_000; i++) {
        answered = 1500;
        bookable.follow();
        bookable.followNow(Collections.singleton(id(0)));
        assertNotNull(bookable.largestRegistered(), "a node is raised");
        heartbeatsUntilAllAreResized();
        answered = 1000;
        bookable.follow();
        heartbeatsUntilAllAreResized();
        assertNull(bookable.largestRegistered(), "no node is raised");
      }
    } finally {
      asking.interrupt();
      asking.join();
    }
  }

  /** CapacityScheduler's part; refuses one node. */
  private final class Resizes implements NodeResizes.Resizer {
    private NodeId refused;

    @Override
    public void resize(RMNode node, Resource size) {
      if (node.getNodeID().equals(refused)) {
        throw new IllegalStateException("refused by a test");
      }
      schedulerNodes.get(node.getNodeID()).updateTotalResource(size);
    }

    @Override
    public void recomputeQueues() {}
  }
}
