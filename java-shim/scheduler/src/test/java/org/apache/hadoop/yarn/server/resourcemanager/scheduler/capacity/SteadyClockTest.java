package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.Resource;
import org.elastane.conf.ElastaneConfiguration;
import org.elastane.natives.NativeLibrary;
import org.elastane.natives.Natives;
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
    changes = new NumberBuffer(3);
    Configuration conf = TestCluster.enforcing(directory);
    conf.set("yarn.scheduler.elastane.overcommit.max-ratio", "1.25");
    conf.set("yarn.scheduler.elastane.report.missed", "10");
    core = new CoreHandle(true, clock);
    core.setSettings(ElastaneConfiguration.settingsJson(conf));
    core.reopen();
    core.nodeAdded(NODE, SIZE);
    report();
    letSmallOnesWait();
    assertEquals(1250, changedRatio());
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
    for (int i = 0; i < FRESH.toSeconds(); i++) {
      pass(Duration.ofSeconds(1));
      assertEquals(0, core.bookableChanges(changes));
    }
    pass(Duration.ofSeconds(1));

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

  private void letSmallOnesWait() {
    int application =
        core.applicationAdded(
            "{\"id\":\"application_1_0001\",\"name\":\"small\",\"user\":\"somebody\","
                + "\"queue\":\"root.default\",\"type\":\"\",\"tags\":[],\"commands\":[]}");
    long handle = core.handleForTest();
    Natives.pending(
        handle,
        application,
        false,
        1,
        0,
        256 << 20,
        1,
        10_000,
        new long[0],
        "",
        Natives.STANDING_ORDERED,
        clock.nowMs());
    NativesForTest.foresee(handle, application, 1, 1, 1);
  }

  private int changedRatio() {
    assertEquals(1, core.bookableChanges(changes));
    return changes.get(1);
  }
}
