package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.MockNM;

/** Elastane in mode enforce: all nodes report, and all demands are predicted. */
final class ElastaneSide extends SchedulerSide {
  private static final double LEAST_SHARE_OF_REQUEST = 0.2;
  private static final double MOST_SHARE_OF_REQUEST = 0.9;
  private static final int DIFFERENT_SHARES = 97;

  private int told;
  private long asked;
  private long updates;
  private long updatesThatAsked;

  ElastaneSide(SchedulerCase measured, Path directory) throws Exception {
    super(ElastaneScheduler.class, measured, directory);
  }

  /** Predicted for an hour, with a different share of the request for each application. */
  @Override
  void tell(MockAM master, int requestPriority, Resource size) {
    double share =
        LEAST_SHARE_OF_REQUEST
            + (MOST_SHARE_OF_REQUEST - LEAST_SHARE_OF_REQUEST)
                * (told++ % DIFFERENT_SHARES)
                / DIFFERENT_SHARES;
    cluster.foresee(
        master,
        requestPriority,
        (int) (share * size.getVirtualCores() * 1000),
        (int) (share * size.getMemorySize()));
  }

  @Override
  void betweenBlocks() throws IOException {
    for (MockNM node : nodes) {
      cluster.report(node);
    }
    asked = cluster.metrics().roundCount();
  }

  @Override
  void updated() {
    long now = cluster.metrics().roundCount();
    updates++;
    if (now > asked) {
      updatesThatAsked++;
    }
    asked = now;
  }

  /** The heartbeats of all blocks whose node the core was asked about. */
  long orderedByCore() {
    return updatesThatAsked;
  }

  int raisedNodes() {
    return NodeSizes.of(cluster.scheduler().getAllNodes()).raised();
  }

  @Override
  void checkAtTheEnd() throws IOException {
    super.checkAtTheEnd();
    if (updatesThatAsked != updates) {
      throw new IllegalStateException(
          "the core was asked in " + updatesThatAsked + " of " + updates + " heartbeats");
    }
    // The count of rounds includes those that the core left to CapacityScheduler's order.
    long left =
        Published.metricsOf(cluster.metrics()).get("RoundsLeftToCapacityScheduler").longValue();
    if (left != 0) {
      throw new IllegalStateException("the core left " + left + " rounds to CapacityScheduler");
    }
    for (JsonNode node : cluster.coreStatus().get("nodes")) {
      if (node.get("report_age_ms").isNull()) {
        throw new IllegalStateException(node.get("node").asText() + " did not report");
      }
    }
  }
}
