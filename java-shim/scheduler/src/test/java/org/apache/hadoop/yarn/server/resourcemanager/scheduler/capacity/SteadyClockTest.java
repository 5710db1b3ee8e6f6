package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Resource;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativeLibrary;
import org.elastane.natives.NativesForTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Setting the machine's clock does not affect the core. */
class SteadyClockTest {
  private static final String NODE = "127.0.0.1:1";
  private static final Resource SIZE = Resource.newInstance(4096, 4);

  /** How long a report is fresh: three reports of 3 s may be missed, and the next be late. */
  private static final Duration FRESH = Duration.ofSeconds(10);

  @TempDir Path directory;

  private final AtomicLong machineMs = new AtomicLong(1_800_000_000_000L);
  private final AtomicLong elapsedNs = new AtomicLong(-5);
  private final SteadyClock clock = new SteadyClock(machineMs::get, elapsedNs::get);
  private NumberBuffer changes;
  private CoreHandle core;

  @BeforeEach
  void raiseANode() {
    NativeLibrary.load();
    changes = new NumberBuffer(2);
    Configuration conf = TestCluster.enforcing(directory);
    core = CoreHandle.open(ElastaneConfiguration.settingsJson(conf), true, clock);
    core.nodeAdded(NODE, SIZE);
    report();
    assertEquals(2000, changedRatio());
  }

  @AfterEach
  void close() {
    core.close();
  }

  @Test
  void itBeginsWithTheMachinesTimeAndGoesOnWithWhatPasses() {
    assertEquals(1_800_000_000_000L, clock.nowMs());
    pass(Duration.ofSeconds(90));
    assertEquals(1_800_000_090_000L, clock.nowMs());
  }

  @Test
  void aSilentNodeIsLoweredAlsoWhenTheMachinesClockIsSetBack() {
    machineMs.addAndGet(-Duration.ofHours(1).toMillis());
    pass(FRESH.plusSeconds(1));

    assertEquals(1000, changedRatio());
  }

  @Test
  void aNodeThatReportsStaysRaisedWhenTheMachinesClockIsSetForward() {
    machineMs.addAndGet(Duration.ofHours(1).toMillis());
    pass(Duration.ofSeconds(3));

    assertEquals(0, core.bookableChanges(changes));
  }

  private void pass(Duration time) {
    elapsedNs.addAndGet(time.toNanos());
  }

  private void report() {
    core.report(
        NODE,
        TestCluster.PROTOCOL_VERSION,
        NativesForTest.reportBody(SIZE.getVirtualCores() * 1000, SIZE.getMemorySize() << 20));
  }

  private int changedRatio() {
    assertEquals(1, core.bookableChanges(changes));
    return changes.get(1);
  }
}
