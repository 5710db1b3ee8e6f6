package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import org.apache.hadoop.yarn.server.resourcemanager.MockAM;

/** What CapacityScheduler alone does not have: agents, predictions, a core that fails. */
interface ElastanesPart {
  ElastanesPart NONE =
      new ElastanesPart() {
        @Override
        public void report(SimulatedNode node) {}

        @Override
        public void foresee(MockAM master, int percentOfRequest) {}

        @Override
        public void failCore() {}

        @Override
        public void secondPasses() {}

        @Override
        public void refreshed() {}
      };

  void report(SimulatedNode node) throws Exception;

  /** The master's containers are predicted to need this much of what they request. */
  void foresee(MockAM master, int percentOfRequest);

  void failCore();

  /** Nodes are raised and lowered once a second. */
  void secondPasses() throws Exception;

  /** The queues were refreshed. */
  void refreshed() throws Exception;
}
