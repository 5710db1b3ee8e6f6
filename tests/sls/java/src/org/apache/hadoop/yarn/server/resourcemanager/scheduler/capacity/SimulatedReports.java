package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.NodeId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.elastane.natives.NativesForTest;

/** The agents of all nodes: each reports when its node is added, and then in each interval. */
final class SimulatedReports implements AutoCloseable {
  private static final long BYTES_PER_MIB = 1024L * 1024L;
  private static final int MILLICORES_PER_CORE = 1000;

  /** An interval is divided into these, so that the reports are spread over it. */
  private static final int SLICES = 30;

  private final CoreLink link;
  private final Consumer<String> onRefusal;
  private final List<RMNode> nodes = new CopyOnWriteArrayList<>();
  private final AtomicLong sent = new AtomicLong();
  private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor();
  private int slice;

  SimulatedReports(CoreLink link, int intervalMs, Consumer<String> onRefusal) {
    this.link = link;
    this.onRefusal = onRefusal;
    thread.scheduleAtFixedRate(
        this::reportSlice, intervalMs / SLICES, intervalMs / SLICES, TimeUnit.MILLISECONDS);
  }

  /** The node's first report comes now: without one, the core does not decide for the node. */
  void add(RMNode node) {
    report(node);
    nodes.add(node);
  }

  long sent() {
    return sent.get();
  }

  private void reportSlice() {
    try {
      for (int i = slice; i < nodes.size(); i += SLICES) {
        report(nodes.get(i));
      }
    } catch (Throwable e) {
      // Thrown on, it would end all further reports silently.
      onRefusal.accept("reports of nodes failed: " + e);
    }
    slice = (slice + 1) % SLICES;
  }

  private void report(RMNode node) {
    NodeId id = node.getNodeID();
    Resource size = node.getTotalCapability();
    byte[] body =
        NativesForTest.reportBody(
            size.getVirtualCores() * MILLICORES_PER_CORE, size.getMemorySize() * BYTES_PER_MIB);
    try {
      new UsageReports(link.guard(), link.core(), link.metrics())
          .report(id, TestCluster.PROTOCOL_VERSION, body);
      sent.incrementAndGet();
    } catch (IOException | RuntimeException e) {
      onRefusal.accept("the report of " + id + " was refused: " + e);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
