package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.util.StringUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.FairScheduler;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;

/**
 * The CPU time of a heartbeat while applications wait. CapacityScheduler, Elastane in mode enforce
 * and FairScheduler take turns in one JVM, on one thread. With one queue, CapacityScheduler and
 * Elastane are measured with asynchronous scheduling too.
 *
 * <p>Arguments: cases, numbers of waiting applications, numbers of queues; each with commas.
 */
final class SchedulerBenchmark {
  static final String SCHEDULERS = "org.apache.hadoop.yarn.server.resourcemanager.scheduler";

  private static final int WARM_UP_BLOCKS = 8;

  /** Before the first case: after fewer blocks the JVM is still compiling what it runs. */
  private static final int WARM_UP_BLOCKS_AT_FIRST = 150;

  private static final int BLOCKS = 21;

  /** A block takes about this long, within the numbers of heartbeats below. */
  private static final double BLOCK_US = 40_000;

  private static final int LEAST_IN_BLOCK = 20;

  /** In a block each heartbeat may place 1 GiB, and a node has room for 24 more. */
  private static final int MOST_IN_BLOCK = 20 * SchedulerSide.NODES;

  private SchedulerBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    progress("warming up");
    measure(new SchedulerCase(WaitingCase.FIRST_FITS, 100, 1, false), WARM_UP_BLOCKS_AT_FIRST);
    for (boolean isAsynchronous : new boolean[] {false, true}) {
      for (String queues : StringUtils.getTrimmedStrings(arguments[2])) {
        for (String pending : StringUtils.getTrimmedStrings(arguments[1])) {
          for (String name : StringUtils.getTrimmedStrings(arguments[0])) {
            SchedulerCase measured =
                new SchedulerCase(
                    WaitingCase.named(name),
                    Integer.parseInt(pending),
                    Integer.parseInt(queues),
                    isAsynchronous);
            if (!isAsynchronous || measured.queues == 1) {
              progress(measured.label());
              System.out.println(measure(measured).line());
            }
          }
        }
      }
    }
    // A stopped ResourceManager leaves threads behind.
    System.exit(0);
  }

  private static void progress(String what) {
    System.err.println("bench-scheduler: " + what);
  }

  static SchedulerFigures measure(SchedulerCase measured) throws Exception {
    return measure(measured, WARM_UP_BLOCKS);
  }

  private static SchedulerFigures measure(SchedulerCase measured, int warmUpBlocks)
      throws Exception {
    try (TemporaryFolder directory = new TemporaryFolder("scheduler-benchmark");
        SchedulerSide capacity =
            new SchedulerSide(CapacityScheduler.class, measured, directory.resolve("capacity"));
        ElastaneSide elastane = new ElastaneSide(measured, directory.resolve("elastane"));
        SchedulerSide fair =
            measured.isForFairScheduler()
                ? new SchedulerSide(FairScheduler.class, measured, directory.resolve("fair"))
                : null) {
      // CapacityScheduler warns of each container that is larger than a node, at each heartbeat.
      LogManager.getLogger(SCHEDULERS).setLevel(Level.ERROR);
      List<SchedulerSide> sides = new ArrayList<>(Arrays.asList(capacity, elastane));
      if (fair != null) {
        sides.add(fair);
      }
      SchedulerFigures figures = new SchedulerFigures(measured, sides.size());
      int[] updates = new int[sides.size()];
      for (SchedulerSide side : sides) {
        side.begin();
      }
      Arrays.fill(updates, LEAST_IN_BLOCK);
      for (int block = -warmUpBlocks; block < BLOCKS; block++) {
        for (int i = 0; i < sides.size(); i++) {
          double[] tookUs = sides.get(i).block(updates[i]);
          if (block < 0) {
            updates[i] = updatesFor(CpuTimes.mean(tookUs));
          } else {
            figures.add(i, tookUs);
          }
        }
      }
      for (SchedulerSide side : sides) {
        side.checkAtTheEnd();
      }
      figures.elastane(elastane.orderedByCore(), elastane.raisedNodes());
      return figures;
    }
  }

  private static int updatesFor(double meanUs) {
    return (int) Math.max(LEAST_IN_BLOCK, Math.min(MOST_IN_BLOCK, BLOCK_US / meanUs));
  }
}
