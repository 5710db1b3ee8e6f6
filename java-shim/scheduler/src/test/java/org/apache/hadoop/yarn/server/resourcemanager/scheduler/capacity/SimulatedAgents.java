package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.server.resourcemanager.MockAM;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.elastane.Await;
import org.elastane.natives.NativesForTest;

/** What random operations do with Elastane: agents report, demand is predicted, the core fails. */
final class SimulatedAgents implements ElastanesPart {
  private final boolean raises;

  private final Map<ApplicationId, MockAM> masters = new HashMap<>();

  /** The demand of an application's containers in percent of their requests. */
  private final Map<ApplicationId, Integer> percentOf = new HashMap<>();

  private TestCluster cluster;
  private long failures;

  /**
   * @param raises whether nodes are raised, which takes time, or may be
   */
  SimulatedAgents(TestCluster cluster, boolean raises) {
    this.raises = raises;
    resourceManager(cluster);
  }

  /** The ResourceManager that is active from now on. */
  void resourceManager(TestCluster active) {
    cluster = active;
    percentOf.clear();
    masters.clear();
    failures = 0;
    active.scheduler().link().recovery().setWaitsForTest();
  }

  @Override
  public void report(SimulatedNode node) throws Exception {
    if (isInService()) {
      Resource registered =
          cluster.schedulerNode(node.nodeManager()).getRMNode().getTotalCapability();
      cluster.reportMemory(node.nodeManager(), (int) registered.getMemorySize());
    }
  }

  @Override
  public void foresee(MockAM master, int percentOfRequest) {
    if (percentOfRequest > 100 || !isInService()) {
      return;
    }
    for (int sizeMib : MasterOperations.SIZES_MIB) {
      for (int cores = 1; cores <= 2; cores++) {
        cluster.foresee(
            master,
            MasterOperations.priority(sizeMib, cores),
            cores * 10 * percentOfRequest,
            sizeMib * percentOfRequest / 100);
      }
    }
    ApplicationId application = master.getApplicationAttemptId().getApplicationId();
    percentOf.put(application, percentOfRequest);
    masters.put(application, master);
  }

  @Override
  public void failCore() {
    CoreLink link = cluster.scheduler().link();
    if (isInService()) {
      link.guard().run("a test", () -> NativesForTest.panic(link.core().handleForTest()));
      failures++;
    }
  }

  /** The next core gets the same predictions. */
  @Override
  public void refreshed() throws Exception {
    Await.until("the core is in service", this::isInService);
    for (Map.Entry<ApplicationId, Integer> known : new HashMap<>(percentOf).entrySet()) {
      if (cluster.scheduler().link().applications().find(known.getKey()) != null) {
        foresee(masters.get(known.getKey()), known.getValue());
      } else {
        percentOf.remove(known.getKey());
        masters.remove(known.getKey());
      }
    }
  }

  @Override
  public void secondPasses() throws Exception {
    if (raises) {
      Thread.sleep(1000);
    }
  }

  boolean isInService() {
    return cluster.scheduler().link().guard().inService();
  }

  /** How often the core failed. */
  long failures() {
    return failures;
  }

  /** What the core plans for a container that is placed now. */
  long demandMib(RMContainer container) {
    long requestMib = container.getContainer().getResource().getMemorySize();
    ApplicationId application = container.getApplicationAttemptId().getApplicationId();
    Integer percent = percentOf.get(application);
    if (percent == null || container.isAMContainer()) {
      return requestMib;
    }
    // By the size that was asked for, whatever an update made of it.
    int priority = container.getContainer().getPriority().getPriority();
    return MasterOperations.sizeMib(priority) * percent / 100;
  }
}
