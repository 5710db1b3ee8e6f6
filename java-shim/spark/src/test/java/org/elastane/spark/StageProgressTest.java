package org.elastane.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class StageProgressTest {
  private long nowMs = 5;
  private final StageProgress progress = new StageProgress(() -> nowMs);

  @Test
  void thePartIsThatOfTheTasksThatEnded() {
    assertProgress(0, 0, 0);
    progress.stageSubmitted(0, 0, 4);
    assertProgress(0, 0, 4);
    progress.taskSucceeded(0, 2);
    assertProgress(0, 1, 4);
    progress.taskSucceeded(0, 0);
    assertProgress(0, 2, 4);
  }

  @Test
  void aStageThatEndsIsCountedAndItsTasksAreNoMore() {
    progress.stageSubmitted(0, 0, 2);
    progress.taskSucceeded(0, 0);
    progress.taskSucceeded(0, 1);
    progress.stageEnded(0);
    assertProgress(1, 0, 0);
  }

  @Test
  void aSpeculativeAttemptThatSucceedsTooIsNotCountedTwice() {
    progress.stageSubmitted(0, 0, 4);
    progress.taskSucceeded(0, 1);
    progress.taskSucceeded(0, 1);
    assertProgress(0, 1, 4);
  }

  @Test
  void stagesThatOverlapAreWeighedByTheirTasks() {
    progress.stageSubmitted(0, 0, 9);
    progress.stageSubmitted(1, 0, 1);
    progress.taskSucceeded(1, 0);
    assertProgress(0, 1, 10);
    progress.stageEnded(1);
    assertProgress(1, 0, 9);
    progress.taskSucceeded(0, 0);
    assertProgress(1, 1, 9);
  }

  @Test
  void aSkippedStageNeverStartsAndIsNotCounted() {
    progress.stageSubmitted(1, 0, 2);
    progress.stageEnded(1);
    progress.stageEnded(0);
    assertProgress(1, 0, 0);
  }

  @Test
  void aRetriedStageKeepsItsResultsAndIsCountedOnce() {
    progress.stageSubmitted(1, 0, 4);
    progress.taskSucceeded(1, 0);
    progress.taskSucceeded(1, 1);
    assertProgress(0, 2, 4);
    // One of the two results was lost with its executor.
    progress.stageSubmitted(1, 1, 3);
    assertProgress(0, 1, 4);
    progress.taskSucceeded(1, 1);
    assertProgress(0, 2, 4);
    progress.taskSucceeded(1, 2);
    progress.taskSucceeded(1, 3);
    progress.stageEnded(1);
    assertProgress(1, 0, 0);
  }

  @Test
  void aTaskThatAnEarlierAttemptHadEndedDoesNotPassThePartOfOne() {
    progress.stageSubmitted(1, 0, 2);
    progress.taskSucceeded(1, 0);
    progress.stageSubmitted(1, 1, 1);
    progress.taskSucceeded(1, 0);
    progress.taskSucceeded(1, 1);
    assertProgress(0, 2, 2);
    progress.stageEnded(1);
    assertProgress(1, 0, 0);
  }

  @Test
  void lostResultsOfAStageThatHadEndedAreComputedWithoutCountingItAgain() {
    progress.stageSubmitted(0, 0, 4);
    progress.stageEnded(0);
    progress.stageSubmitted(1, 0, 4);
    progress.taskSucceeded(1, 0);
    progress.stageSubmitted(0, 1, 2);
    progress.taskSucceeded(0, 0);
    assertProgress(1, 1, 4);
    progress.stageEnded(0);
    assertProgress(1, 1, 4);
  }

  @Test
  void aResultLostWhileTheStageRunsIsCountedOnceItIsBack() {
    progress.stageSubmitted(0, 0, 4);
    progress.taskSucceeded(0, 3);
    progress.taskResubmitted(0, 3);
    assertProgress(0, 0, 4);
    progress.taskSucceeded(0, 3);
    assertProgress(0, 1, 4);
  }

  @Test
  void stagesThatNobodyEndsAreForgottenOnceNoJobRuns() {
    progress.jobBegan();
    progress.jobBegan();
    progress.stageSubmitted(0, 0, 4);
    progress.stageSubmitted(1, 0, 6);
    progress.taskSucceeded(0, 0);
    progress.jobEnded();
    assertProgress(0, 1, 10);
    progress.stageEnded(1);
    assertProgress(1, 1, 4);
    progress.jobEnded();
    assertProgress(1, 0, 0);
  }

  @Test
  void aJobThatEndsForgetsNoStageThatRunsAgain() {
    progress.jobBegan();
    progress.jobBegan();
    progress.stageSubmitted(0, 0, 4);
    progress.jobEnded();
    progress.stageSubmitted(0, 1, 4);
    progress.stageEnded(0);
    assertProgress(1, 0, 0);
  }

  @Test
  void tasksOfStagesThatAreNotOpenChangeNothing() {
    progress.taskSucceeded(7, 0);
    progress.taskResubmitted(7, 0);
    progress.jobEnded();
    assertProgress(0, 0, 0);
  }

  @Test
  void aMillionStagesTakeTheMemoryOfThoseThatRun() {
    for (int id = 0; id < 1_000_000; id++) {
      progress.jobBegan();
      progress.stageSubmitted(id, 0, 1000);
      progress.taskSucceeded(id, 999);
      if (id % 2 == 0) {
        progress.stageEnded(id);
      }
      progress.jobEnded();
    }
    assertProgress(500_000, 0, 0);
  }

  @Test
  void theTimeIsThatSinceTheLatestEnd() {
    nowMs = 12;
    assertSince(7);
    progress.stageSubmitted(0, 0, 1);
    nowMs = 20;
    progress.stageEnded(0);
    assertSince(0);
    progress.stageSubmitted(1, 0, 1);
    nowMs = 50;
    assertSince(30);
  }

  @Test
  void tasksThatBeganAreCountedOnceAndUntilTheirResultIsLost() {
    progress.stageSubmitted(0, 0, 4);
    progress.taskBegan(0, 0);
    progress.taskBegan(0, 1);
    progress.taskBegan(0, 1);
    assertProgress(0, 0, 2, 4);
    progress.taskSucceeded(0, 1);
    progress.taskBegan(0, 1);
    assertProgress(0, 1, 2, 4);
    progress.taskResubmitted(0, 1);
    assertProgress(0, 0, 1, 4);
    progress.stageSubmitted(0, 1, 3);
    assertProgress(0, 1, 1, 4);
    progress.taskBegan(0, 3);
    assertProgress(0, 1, 2, 4);
    progress.stageEnded(0);
    assertProgress(1, 0, 0, 0);
  }

  /** As many tasks have begun as have ended. */
  private void assertProgress(long stagesEnded, long tasksEnded, long tasks) {
    assertProgress(stagesEnded, tasksEnded, tasksEnded, tasks);
  }

  private void assertProgress(long stagesEnded, long tasksEnded, long tasksBegun, long tasks) {
    assertEquals(
        ProgressLine.of(stagesEnded, 0, tasksEnded, tasksBegun, tasks),
        Lines.withoutTime(progress.line()));
  }

  private void assertSince(long sinceMs) {
    String line = progress.line();
    assertTrue(line.contains("\"since_ms\":" + sinceMs + ","), line);
  }
}
