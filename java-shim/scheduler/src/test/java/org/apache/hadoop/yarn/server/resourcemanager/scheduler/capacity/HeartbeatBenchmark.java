package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.ResourceScheduler;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.event.NodeUpdateSchedulerEvent;

/**
 * The CPU time of a heartbeat while nothing waits: CapacityScheduler and ElastaneScheduler in mode
 * enforce take turns in one JVM, on one thread. The ratio is bounded: a busy machine moves both
 * times and hardly their ratio.
 *
 * <p>100 nodes of 64 GiB, one queue, ten applications that run and wait for nothing. Elastane's
 * nodes report, so the core decides about them and is asked for their bookable capacity.
 */
final class HeartbeatBenchmark {
  private static final int NODES = 100;
  private static final int APPLICATIONS = 10;
  private static final int ROUNDS_IN_BLOCK = 200;
  private static final int WARM_UP_BLOCKS = 15;
  private static final int BLOCKS = 31;

  /** The bound of a heartbeat's CPU time over CapacityScheduler's. */
  private static final double MOST_RATIO = 1.3;

  /** The aim on an idle machine, printed for information. */
  private static final double AIM_DIFFERENCE_US = 10;

  private HeartbeatBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    boolean cheap = run();
    // A stopped ResourceManager leaves threads behind.
    System.exit(cheap ? 0 : 1);
  }

  private static boolean run() throws Exception {
    try (TemporaryFolder directory = new TemporaryFolder("heartbeat-benchmark");
        Side capacity = new Side(CapacityScheduler.class, "off", directory.resolve("capacity"));
        Side elastane =
            new Side(ElastaneScheduler.class, "enforce", directory.resolve("elastane"))) {
      double[] capacityUs = new double[BLOCKS];
      double[] elastaneUs = new double[BLOCKS];
      double[] ratios = new double[BLOCKS];
      for (int block = -WARM_UP_BLOCKS; block < BLOCKS; block++) {
        double stock = capacity.block();
        elastane.report();
        double ours = elastane.block();
        if (block >= 0) {
          capacityUs[block] = stock;
          elastaneUs[block] = ours;
          ratios[block] = ours / stock;
        }
      }
      elastane.checkThatItWasIdleAndDecided();
      double stock = CpuTimes.median(capacityUs);
      double ours = CpuTimes.median(elastaneUs);
      double ratio = CpuTimes.median(ratios);
      System.out.println(
          String.format(
              Locale.ROOT,
              "heartbeat idle capacity_us=%.2f elastane_us=%.2f difference_us=%.2f ratio=%.3f"
                  + " most_ratio=%.1f aim_difference_us=%.0f",
              stock,
              ours,
              ours - stock,
              ratio,
              MOST_RATIO,
              AIM_DIFFERENCE_US));
      return ratio <= MOST_RATIO;
    }
  }

  /** One of the two schedulers, with its nodes and applications. */
  private static final class Side implements AutoCloseable {
    private final TestCluster cluster;
    private final List<MockNM> nodes = new ArrayList<>();
    private final List<RMNode> rmNodes = new ArrayList<>();

    Side(Class<? extends ResourceScheduler> scheduler, String mode, Path directory)
        throws Exception {
      Configuration conf = TestCluster.configuration(scheduler, mode, directory);
      cluster = TestCluster.start(conf);
      for (int i = 0; i < NODES; i++) {
        MockNM node = cluster.register("127.0.0.1:" + (1 + i), 65536, 32);
        nodes.add(node);
        rmNodes.add(cluster.resourceManager().getRMContext().getRMNodes().get(node.getNodeId()));
      }
      for (int i = 0; i < APPLICATIONS; i++) {
        MockNM node = nodes.get(i);
        MockAM master = cluster.launch("default", node);
        cluster.ask(master, 1024, 4);
        cluster.heartbeatUntil(
            "all run", () -> cluster.containers(master) == 5, node, nodes.get(NODES - 1));
      }
    }

    /** The mean CPU time of a heartbeat in one block, in microseconds. */
    double block() {
      CapacityScheduler scheduler = cluster.capacityScheduler();
      double tookUs =
          CpuTimes.ofUs(
              () -> {
                for (int round = 0; round < ROUNDS_IN_BLOCK; round++) {
                  for (RMNode node : rmNodes) {
                    scheduler.handle(new NodeUpdateSchedulerEvent(node));
                  }
                }
              });
      return tookUs / (ROUNDS_IN_BLOCK * rmNodes.size());
    }

    void report() throws IOException {
      for (MockNM node : nodes) {
        cluster.report(node);
      }
    }

    void checkThatItWasIdleAndDecided() throws IOException {
      for (JsonNode node : cluster.coreStatus().get("nodes")) {
        if (node.get("report_age_ms").isNull()) {
          throw new IllegalStateException(node.get("node").asText() + " did not report");
        }
      }
      if (cluster.coreStatus().at("/waiting").size() != 0) {
        throw new IllegalStateException("an application waited");
      }
    }

    @Override
    public void close() {
      cluster.close();
    }
  }
}
