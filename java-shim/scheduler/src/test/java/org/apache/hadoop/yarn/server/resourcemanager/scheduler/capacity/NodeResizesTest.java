package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockNodes;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** However many nodes wait to be resized, a heartbeat is held up for a few of them only. */
class NodeResizesTest {
  private static final int WAITING = 300;
  private static final Resource REGISTERED = Resource.newInstance(4096, 4);

  private final Map<NodeId, FiCaSchedulerNode> schedulerNodes = new HashMap<>();
  private final List<NodeRecord> records = new ArrayList<>();
  private final Set<NodeRecord> outdated = new HashSet<>();
  private final Queues queues = new Queues();
  private final NodeResizes resizes =
      new NodeResizes(
          record -> !outdated.contains(record), schedulerNodes::get, queues, () -> queues.nowNs);

  @BeforeEach
  void nodesAreToBeRaised() {
    for (int i = 0; i < WAITING; i++) {
      RMNode rmNode = MockNodes.newNodeInfo(1, REGISTERED, i, "host" + i, 1);
      schedulerNodes.put(rmNode.getNodeID(), new FiCaSchedulerNode(rmNode, false));
      NodeRecord record = new NodeRecord(rmNode, i, REGISTERED);
      record.setRatio(new NodeRecord.Ratio(1500, 1500));
      records.add(record);
      resizes.add(record);
    }
  }

  @Test
  void aCallResizesAFewOfHundredsAndAllFollowInTheOrderInWhichTheyCame() {
    List<NodeId> expected = records.stream().map(record -> record.rmNode.getNodeID()).toList();

    int calls = 0;
    while (!resizes.isEmpty()) {
      int before = queues.resized.size();
      resizes.applySome(null);
      int inCall = queues.resized.size() - before;
      assertTrue(inCall <= NodeResizes.RESIZES_IN_CALL, inCall + " resizes in a call");
      assertTrue(inCall > 0, "a call that has time brings the others nearer");
      // One that waits already, and is to have another size, keeps its place.
      resizeAgain(records.get(WAITING / 2));
      calls++;
    }

    assertEquals(expected, queues.resized);
    assertEquals((WAITING + NodeResizes.RESIZES_IN_CALL - 1) / NodeResizes.RESIZES_IN_CALL, calls);
  }

  private void resizeAgain(NodeRecord record) {
    if (!queues.resized.contains(record.rmNode.getNodeID())) {
      resizes.add(record);
    }
  }

  @Test
  void aCallEndsWhenItsTimeIsOverAndNotBeforeOneResize() {
    queues.resizeNs = NodeResizes.CALL_NS / 3 + 1;
    resizes.applySome(null);
    assertEquals(3, queues.resized.size());

    queues.resizeNs = 5 * NodeResizes.CALL_NS;
    resizes.applySome(null);
    assertEquals(4, queues.resized.size());
  }

  @Test
  void theNodeThatIsAboutToBeOfferedComesFirstAndCountsAsOneOfTheCall() {
    queues.resizeNs = NodeResizes.CALL_NS / 2;
    resizes.applySome(records.get(200));

    assertEquals(List.of(id(200), id(0)), queues.resized);
    resizes.applySome(records.get(200));
    assertEquals(List.of(id(200), id(0), id(1), id(2)), queues.resized, "it does not wait");
  }

  private NodeId id(int record) {
    return records.get(record).rmNode.getNodeID();
  }

  @Test
  void slowQueuesAreRecomputedInCallsOfTheirOwnAndAtMostTenTimesASecond() {
    queues.resizeNs = NodeResizes.CALL_NS;
    long beganNs = queues.nowNs;
    int calls = 0;
    while (!resizes.isEmpty()) {
      int before = queues.resized.size();
      int recomputedBefore = queues.recomputed;
      resizes.applySome(null);
      assertEquals(
          1, queues.resized.size() - before + queues.recomputed - recomputedBefore, "in a call");
      queues.nowNs += TimeUnit.MILLISECONDS.toNanos(1);
      calls++;
    }

    assertEquals(WAITING, queues.resized.size());
    long tookNs = queues.nowNs - beganNs;
    assertEquals(1 + tookNs / NodeResizes.OUTDATED_QUEUES_NS, queues.recomputed, "with the last");
    assertEquals(WAITING + queues.recomputed, calls);
  }

  @Test
  void fewNodesAreResizedAndTheQueuesRecomputedInOneCall() {
    resizes.clear();
    records.subList(0, 3).forEach(resizes::add);

    resizes.applySome(null);

    assertEquals(3, queues.resized.size());
    assertEquals(1, queues.recomputed);
    assertTrue(resizes.isEmpty());
  }

  @Test
  void theQueuesAreRecomputedInTheCallAfterACommitHadItsNodeResized() {
    resizes.clear();
    resizes.add(records.get(7));

    resizes.applyNow(new HashSet<>(Collections.singleton(records.get(7))));
    assertEquals(1, queues.resized.size());
    assertFalse(resizes.isEmpty(), "the queues are still to be recomputed");
    resizes.clear();
    assertFalse(resizes.isEmpty(), "they are, whatever else is forgotten");
    resizes.applySome(null);

    assertEquals(1, queues.recomputed);
    assertTrue(resizes.isEmpty());
  }

  @Test
  void aNodeThatRegisteredAgainDoesNotTakeTheFormerRatio() {
    resizes.clear();
    records.subList(0, 3).forEach(resizes::add);
    outdated.add(records.get(0));
    outdated.add(records.get(1));

    resizes.applyNow(new HashSet<>(Collections.singleton(records.get(1))));
    resizes.applySome(records.get(0));

    assertEquals(List.of(id(2)), queues.resized);
    assertTrue(resizes.isEmpty());
    assertFalse(resizes.areAnyLeft());
  }

  /** CapacityScheduler's part; each resize takes a given time. */
  private final class Queues implements NodeResizes.Resizer {
    private final List<NodeId> resized = new ArrayList<>();
    private long nowNs = Long.MAX_VALUE - 1000;
    private long resizeNs;
    private int recomputed;

    @Override
    public void resize(RMNode node, Resource size) {
      resized.add(node.getNodeID());
      schedulerNodes.get(node.getNodeID()).updateTotalResource(size);
      nowNs += resizeNs;
    }

    @Override
    public void recomputeQueues() {
      recomputed++;
    }
  }
}
