package org.elastane.spark;

import org.apache.spark.Resubmitted$;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;

/**
 * Hears of stages and tasks from Spark. Names no collection of Scala: their signatures differ
 * between Scala 2.12 and 2.13.
 */
final class StageListener extends SparkListener {
  private final Guard guard;
  private final StageProgress progress;

  StageListener(Guard guard, StageProgress progress) {
    this.guard = guard;
    this.progress = progress;
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    guard.run(
        () -> {
          StageInfo stage = event.stageInfo();
          progress.stageSubmitted(stage.stageId(), stage.attemptNumber(), stage.numTasks());
        });
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    guard.run(() -> progress.taskBegan(event.stageId(), event.taskInfo().partitionId()));
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    guard.run(
        () -> {
          // TaskInfo.successful() does not tell these apart: it stays true when a result is lost.
          TaskEndReason reason = event.reason();
          if (reason == Success$.MODULE$) {
            progress.taskSucceeded(event.stageId(), event.taskInfo().partitionId());
          } else if (reason == Resubmitted$.MODULE$) {
            progress.taskResubmitted(event.stageId(), event.taskInfo().partitionId());
          }
        });
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    guard.run(
        () -> {
          StageInfo stage = event.stageInfo();
          if (stage.failureReason().isEmpty()) {
            progress.stageEnded(stage.stageId());
          }
        });
  }

  @Override
  public void onJobStart(SparkListenerJobStart event) {
    guard.run(progress::jobBegan);
  }

  @Override
  public void onJobEnd(SparkListenerJobEnd event) {
    guard.run(progress::jobEnded);
  }
}
