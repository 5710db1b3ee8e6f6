package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceLimits;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;
import org.elastane.Await;

/**
 * How long Elastane holds the scheduler's write lock while it raises all nodes of a large cluster,
 * while it lowers them all because the core failed, and while a new core is told everything. Beside
 * it, what CapacityScheduler needs to recompute its queues once, which each node that comes or goes
 * costs it anyway.
 *
 * <p>Arguments: nodes, queues, applications (5000 200 1000). Fails above the bound.
 */
final class RaiseBenchmark {
  /** The bound of a hold beyond one recomputation of the queues. */
  private static final double MOST_MORE_MS = 20;

  /** The bound of a hold after a failure of the core. */
  private static final double MOST_AT_FAILURE_MS = 200;

  private static final int RECOMPUTATIONS = 50;

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long DEADLINE_NS = TimeUnit.MINUTES.toNanos(5);

  private RaiseBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int nodes = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5000;
    int queues = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 200;
    int applications = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 1000;
    boolean isShort = run(nodes, queues, applications);
    // A stopped ResourceManager leaves threads behind.
    System.exit(isShort ? 0 : 1);
  }

  private static boolean run(int nodeCount, int queueCount, int applications) throws Exception {
    Path directory = Files.createTempDirectory("raise-benchmark");
    Configuration conf = TestCluster.enforcing(directory);
    conf.setClass(YarnConfiguration.RM_SCHEDULER, Timed.class, ResourceScheduler.class);
    String[] names = new String[queueCount];
    for (int i = 0; i < queueCount; i++) {
      names[i] = "q" + i;
    }
    TestCluster.queues(conf, names);
    try (TestCluster cluster = TestCluster.start(conf)) {
      List<MockNM> nodes = new ArrayList<>();
      for (int i = 0; i < nodeCount; i++) {
        nodes.add(cluster.register("127.0." + i / 250 + "." + (1 + i % 250) + ":1", 65536, 32));
      }
      System.err.println(nodeCount + " nodes registered");
      for (int i = 0; i < applications; i++) {
        cluster.submit(names[i % queueCount]);
      }
      System.err.println(applications + " applications submitted");
      for (MockNM node : nodes) {
        cluster.report(node);
      }
      cluster.letSmallOnesWait(nodes.get(0));
      return measure(cluster, nodes, queueCount, applications);
    }
  }

  private static boolean measure(
      TestCluster cluster, List<MockNM> nodes, int queueCount, int applications) throws Exception {
    Timed scheduler = (Timed) cluster.scheduler();
    double recomputeMs = recomputeMs(scheduler);
    scheduler.timer.reset();
    double longestEventMs = 0;
    long beganNs = System.nanoTime();
    while (NodeSizes.of(scheduler.getAllNodes()).raised() < nodes.size()) {
      if (System.nanoTime() - beganNs > DEADLINE_NS) {
        throw new IllegalStateException(
            "only " + NodeSizes.of(scheduler.getAllNodes()).raised() + " nodes were raised");
      }
      Thread.sleep(200);
      for (MockNM node : nodes) {
        cluster.report(node);
      }
      longestEventMs = Math.max(longestEventMs, longestHeartbeatMs(cluster, nodes));
    }
    double raiseMs = scheduler.timer.longestMs();
    scheduler.timer.reset();
    scheduler.link().recovery().setWaitsForTest();
    scheduler.link().guard().takeOutOfService("a benchmark", new IllegalStateException("asked"));
    double longestLoweringEventMs = longestHeartbeatMs(cluster, nodes);
    if (NodeSizes.of(scheduler.getAllNodes()).raised() > nodes.size() / 10) {
      throw new IllegalStateException("nodes were not lowered by one heartbeat of each");
    }
    while (NodeSizes.of(scheduler.getAllNodes()).raised() > 0) {
      if (System.nanoTime() - beganNs > DEADLINE_NS) {
        throw new IllegalStateException("nodes were not lowered");
      }
      longestLoweringEventMs = Math.max(longestLoweringEventMs, longestHeartbeatMs(cluster, nodes));
    }
    double lowerMs = scheduler.timer.longestMs();
    scheduler.timer.reset();
    scheduler.link().recovery().refreshed();
    Await.until("a new core is in service", scheduler.link().guard()::inService);
    double rebuildMs;
    scheduler.timer.lock();
    try {
      // The hold has ended.
      rebuildMs = scheduler.timer.longestMs();
    } finally {
      scheduler.timer.unlock();
    }
    System.out.println(
        String.format(
            Locale.ROOT,
            "raise nodes=%d queues=%d applications=%d recompute_ms=%.1f longest_hold_ms=%.1f"
                + " more_ms=%.1f most_more_ms=%.0f longest_event_ms=%.1f lower_ms=%.1f"
                + " lower_event_ms=%.1f rebuild_ms=%.1f most_at_failure_ms=%.0f",
            nodes.size(),
            queueCount,
            applications,
            recomputeMs,
            raiseMs,
            raiseMs - recomputeMs,
            MOST_MORE_MS,
            longestEventMs,
            lowerMs,
            longestLoweringEventMs,
            rebuildMs,
            MOST_AT_FAILURE_MS));
    return raiseMs - recomputeMs <= MOST_MORE_MS
        && lowerMs <= MOST_AT_FAILURE_MS
        && rebuildMs <= MOST_AT_FAILURE_MS;
  }

  /** The longest of Elastane's part of one heartbeat of each node. */
  private static double longestHeartbeatMs(TestCluster cluster, List<MockNM> nodes) {
    double longestMs = 0;
    for (MockNM node : nodes) {
      RMNode rmNode = cluster.resourceManager().getRMContext().getRMNodes().get(node.getNodeId());
      long beganNs = THREADS.getCurrentThreadCpuTime();
      cluster.scheduler().link().before(new NodeUpdateSchedulerEvent(rmNode));
      longestMs = Math.max(longestMs, (THREADS.getCurrentThreadCpuTime() - beganNs) / 1e6);
    }
    return longestMs;
  }

  /** The shortest of many, so that the difference to it is not too small. */
  private static double recomputeMs(CapacityScheduler scheduler) {
    double shortest = Double.MAX_VALUE;
    for (int i = 0; i < RECOMPUTATIONS; i++) {
      long beganNs = System.nanoTime();
      scheduler
          .getRootQueue()
          .updateClusterResource(
              scheduler.getClusterResource(), new ResourceLimits(scheduler.getClusterResource()));
      shortest = Math.min(shortest, (System.nanoTime() - beganNs) / 1e6);
    }
    return shortest;
  }

  /** Times how long Elastane holds the scheduler's write lock. */
  public static final class Timed extends ElastaneScheduler {
    private Timer timer;

    @Override
    Lock schedulerLock() {
      if (timer == null) {
        timer = new Timer(super.schedulerLock());
      }
      return timer;
    }
  }

  private static final class Timer implements Lock {
    private final Lock lock;
    private int depth;
    private long lockedNs;
    private final List<Long> holdsNs = new ArrayList<>();

    private Timer(Lock lock) {
      this.lock = lock;
    }

    private void reset() {
      holdsNs.clear();
    }

    private double longestMs() {
      return holdsNs.stream().mapToLong(Long::longValue).max().orElse(0) / 1e6;
    }

    @Override
    public void lock() {
      lock.lock();
      if (depth++ == 0) {
        lockedNs = THREADS.getCurrentThreadCpuTime();
      }
    }

    @Override
    public void unlock() {
      if (--depth == 0) {
        holdsNs.add(THREADS.getCurrentThreadCpuTime() - lockedNs);
      }
      lock.unlock();
    }

    @Override
    public void lockInterruptibly() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Condition newCondition() {
      throw new UnsupportedOperationException();
    }
  }
}
