package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.sls.SLSRunner;
import org.elastane.natives.NativesForTest;

/**
 * Runs SLS once, with one scheduler. Writes {@link LoadFigures}; {@code tests/sls} starts it.
 *
 * <p>Arguments: capacity or elastane, a folder with {@code trace.json}, the numbers of applications
 * and of containers in all, how many off-switch containers a heartbeat may place, and the time
 * limit in seconds.
 */
public final class SlsBenchmark {
  /** Counters of Elastane that must stay 0. */
  static final List<String> FAULTS =
      List.of("BookingsMended", "CoreFailures", "PartFailures", "RefusedCalls");

  static final List<String> COUNTERS =
      List.of("Rounds", "RoundsLeftToCapacityScheduler", "RefusedCommits", "PlacedByCore");

  /** Of SLS's MRAMSimulator. */
  private static final int MAP_PRIORITY = 20;

  private static final int PROGRESS_SECONDS = 5;
  private static final long POLL_MS = 200;
  private static final long LAST_CHECK_MS = 30_000;
  private static final double LEAST_SHARE_OF_REQUEST = 0.2;
  private static final double MOST_SHARE_OF_REQUEST = 0.9;
  private static final int DIFFERENT_SHARES = 97;
  private static final long BYTES_PER_MIB = 1024L * 1024L;

  // SLS makes the scheduler by its class name, and keeps its ResourceManager to itself.
  private static LoadMeasure measure;
  private static MeasuredScheduler scheduler;

  private SlsBenchmark() {}

  public static void main(String[] arguments) {
    int code = 1;
    try {
      run(arguments);
      code = 0;
    } catch (Throwable e) {
      // halt() would hide an Error.
      e.printStackTrace();
    } finally {
      // Not exit(): a ResourceManager of thousands of nodes takes long to stop.
      Runtime.getRuntime().halt(code);
    }
  }

  private static void run(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[1]);
    int applications = Integer.parseInt(arguments[2]);
    int containers = Integer.parseInt(arguments[3]);
    long limitNs = TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[5]));
    measure = new LoadMeasure(containers + applications);
    Thread.setDefaultUncaughtExceptionHandler(
        (thread, problem) -> measure.failed(thread.getName() + ": " + problem));
    long beganNs = System.nanoTime();
    start(SlsSettings.configuration(arguments[0], folder, arguments[4]), folder);
    boolean inTime = await(applications, beganNs + limitNs, arguments[0]);
    if (!inTime) {
      measure.failed("not done within the time limit: " + measure.progress());
    }
    // A difference counts if two checks find it.
    measure.checkOnceMore(LAST_CHECK_MS);
    measure.checkOnceMore(LAST_CHECK_MS);
    LoadFigures figures = measure.figures();
    figures.elastane.putAll(scheduler.counters());
    new ObjectMapper().writeValue(folder.resolve("figures.json").toFile(), figures);
  }

  private static void start(Configuration conf, Path folder) throws Exception {
    SLSRunner runner = new SLSRunner(conf);
    runner.setSimulationParams(
        SLSRunner.TraceType.SYNTH,
        new String[] {folder.resolve("trace.json").toUri().toString()},
        "",
        folder.toString(),
        Collections.emptySet(),
        false);
    runner.start();
  }

  private static boolean await(int applications, long deadlineNs, String name)
      throws InterruptedException {
    long nextProgressNs = System.nanoTime();
    while (!measure.isDone(applications)) {
      long nowNs = System.nanoTime();
      if (nowNs - deadlineNs > 0) {
        return false;
      }
      if (nowNs - nextProgressNs > 0) {
        System.err.println("bench-sls: " + name + ": " + measure.progress());
        nextProgressNs = nowNs + TimeUnit.SECONDS.toNanos(PROGRESS_SECONDS);
      }
      Thread.sleep(POLL_MS);
    }
    return true;
  }

  static LoadMeasure measureOf(MeasuredScheduler made) {
    scheduler = made;
    return measure;
  }

  /** Predicted for an hour, with a different share of the request for each application. */
  static void tellDemand(CoreLink link, ApplicationId application) {
    double share =
        LEAST_SHARE_OF_REQUEST
            + (MOST_SHARE_OF_REQUEST - LEAST_SHARE_OF_REQUEST)
                * (application.getId() % DIFFERENT_SHARES)
                / DIFFERENT_SHARES;
    NativesForTest.foresee(
        link.core().handleForTest(),
        link.applications().find(application).number,
        MAP_PRIORITY,
        (int) (share * SlsSettings.CONTAINER_VCORES * 1000),
        (long) (share * SlsSettings.CONTAINER_MIB) * BYTES_PER_MIB);
  }
}
