package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.log4j.LogManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** {@code make bench-scheduler} in small: it fails by itself if the core orders no heartbeat. */
class SchedulerBenchmarkTest {
  @AfterEach
  void loggers() {
    LogManager.getLogger(SchedulerBenchmark.SCHEDULERS).setLevel(null);
  }

  @Test
  void aHeartbeatForWhichNoneOfManyFitsCostsLessThanInCapacityScheduler() throws Exception {
    SchedulerFigures figures =
        SchedulerBenchmark.measure(new SchedulerCase(WaitingCase.NONE_FITS, 100, 1, false));

    assertTrue(figures.ratio() < 0.5, figures.line());
  }
}
