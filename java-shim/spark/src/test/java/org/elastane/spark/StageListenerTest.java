package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.Resubmitted$;
import org.apache.spark.SparkEnv;
import org.apache.spark.Success$;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskEndReason;
import org.apache.spark.TaskResultLost$;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.shuffle.FetchFailedException;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/** What Spark tells of stages and tasks, and what is made of it. */
class StageListenerTest {
  /** The stages that Spark submitted, as stage.attempt:tasks. */
  private final List<String> submitted = new ArrayList<>();

  private final StageProgress progress =
      new StageProgress(() -> 0) {
        @Override
        synchronized void stageSubmitted(int id, int attempt, int missing) {
          submitted.add(id + "." + attempt + ":" + missing);
          super.stageSubmitted(id, attempt, missing);
        }
      };

  private final StageListener listener = new StageListener(new Guard("off"), progress);

  @Test
  void onlySuccessEndsATask() {
    progress.stageSubmitted(0, 0, 4);
    taskEnd(TaskResultLost$.MODULE$, 0, false);
    taskEnd(Success$.MODULE$, 1, false);
    assertEquals(Lines.of(0, 1, 4), progress.line());
  }

  @Test
  void theSecondOfTwoSpeculativeAttemptsIsNotCounted() {
    progress.stageSubmitted(0, 0, 4);
    taskEnd(Success$.MODULE$, 1, true);
    taskEnd(Success$.MODULE$, 1, false);
    assertEquals(Lines.of(0, 1, 4), progress.line());
  }

  @Test
  void aResultThatIsLostIsToBeComputedAgain() {
    progress.stageSubmitted(0, 0, 4);
    taskEnd(Success$.MODULE$, 1, false);
    taskEnd(Resubmitted$.MODULE$, 1, false);
    assertEquals(Lines.of(0, 0, 4), progress.line());
  }

  @Test
  void stagesOfRealJobsAreCountedOnce() throws Exception {
    try (JavaSparkContext context = context()) {
      JavaPairRDD<Integer, Integer> shuffled =
          context
              .parallelize(List.of(1, 2, 3, 4), 2)
              .map(StageListenerTest::failOnce)
              .mapToPair(n -> new Tuple2<>(n % 2, n))
              .reduceByKey(Integer::sum, 2);
      assertEquals(2, shuffled.count());
      awaitStagesEnded(2);
      // The stage before the shuffle is skipped.
      assertEquals(2, shuffled.count());
      awaitStagesEnded(3);
      assertEquals(List.of("0.0:2", "1.0:2", "3.0:2"), submitted);
    }
  }

  @Test
  void stagesThatAreRetriedAreCountedOnce() throws Exception {
    try (JavaSparkContext context = context()) {
      JavaPairRDD<Integer, Integer> shuffled =
          context
              .parallelize(List.of(1, 2, 3, 4), 2)
              .mapToPair(n -> new Tuple2<>(n % 2, n))
              .reduceByKey(Integer::sum, 2);
      assertEquals(2, shuffled.mapValues(StageListenerTest::loseShuffleOnce).count());
      awaitStagesEnded(2);
      // The first stage had ended; its results are lost with the only executor, and computed again.
      assertEquals(List.of("0.0:2", "1.0:2", "0.1:2"), submitted.subList(0, 3));
      assertEquals("1.1:", submitted.get(3).substring(0, 4));
    }
  }

  @Test
  void theStagesOfAJobThatFailsAreForgotten() throws Exception {
    try (JavaSparkContext context = context()) {
      try {
        context.parallelize(List.of(1, 2), 2).map(StageListenerTest::fail).count();
        throw new AssertionError("the job succeeded");
      } catch (Exception expected) {
        // The next job shows that the stage is forgotten.
      }
      SparkJobs.runJob(context);
      awaitStagesEnded(2);
    }
  }

  private JavaSparkContext context() {
    ChosenHalves.driver = () -> new DriverHalf(progress);
    ChosenHalves.executor = () -> null;
    return new JavaSparkContext(SparkJobs.conf("local[2,2]", ChosenHalves.class));
  }

  /** No stage is open then: the part is 0. */
  private void awaitStagesEnded(long stages) throws Exception {
    Deadline.await(progress::line, Lines.of(stages, 0, 0)::equals);
  }

  private void taskEnd(TaskEndReason reason, int partition, boolean speculative) {
    Object locality = TaskLocality.PROCESS_LOCAL();
    TaskInfo task =
        new TaskInfo(
            1, 0, 0, partition, 0, "1", "host", (scala.Enumeration.Value) locality, speculative);
    listener.onTaskEnd(new SparkListenerTaskEnd(0, 0, "ResultTask", reason, task, null, null));
  }

  private static int failOnce(int n) {
    if (TaskContext.get().attemptNumber() == 0) {
      throw new IllegalStateException("first attempt");
    }
    return n;
  }

  private static int fail(int n) {
    throw new IllegalStateException("each attempt of " + n);
  }

  private static int loseShuffleOnce(int n) throws FetchFailedException {
    TaskContext task = TaskContext.get();
    if (task.stageAttemptNumber() == 0 && task.partitionId() == 1) {
      throw new FetchFailedException(
          SparkEnv.get().blockManager().blockManagerId(), 0, 0, 0, 1, "lost", null);
    }
    return n;
  }
}
