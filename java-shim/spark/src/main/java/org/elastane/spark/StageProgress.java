package org.elastane.spark;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * How many stages of the application have ended, and the part of the tasks that ended of those
 * stages that started and have not.
 *
 * <p>Spark's listener thread tells what happened, threads of its RPC ask. Every call but {@link
 * #jobEnded} takes constant time.
 */
class StageProgress {
  private static final class Stage {
    final int tasks;
    final BitSet ended = new BitSet();

    /** Tasks whose results the stage kept from earlier attempts. */
    int endedBefore;

    int endedNow;
    boolean isWaiting;

    Stage(int tasks) {
      this.tasks = tasks;
    }

    /** A task of an earlier attempt can end twice: then, and now. */
    int endedTasks() {
      return Math.min(tasks, endedBefore + endedNow);
    }
  }

  private final Map<Integer, Stage> open = new HashMap<>();
  private int waiting;
  private long stagesEnded;
  private long tasks;
  private long tasksEnded;

  /**
   * @param missing the tasks of this attempt: of a later one, those without a result
   */
  synchronized void stageSubmitted(int id, int attempt, int missing) {
    Stage stage = open.get(id);
    if (stage != null) {
      setWaiting(stage, false);
      tasksEnded -= stage.endedTasks();
      stage.ended.clear();
      stage.endedNow = 0;
      stage.endedBefore = Math.max(0, stage.tasks - missing);
      tasksEnded += stage.endedTasks();
    } else if (attempt == 0) {
      // A later attempt of no open stage computes lost results of one that has ended again.
      open.put(id, new Stage(missing));
      tasks += missing;
    }
  }

  /** Of two attempts at the same partition the second changes nothing. */
  synchronized void taskSucceeded(int stageId, int partition) {
    setEnded(stageId, partition, true);
  }

  /** The result was lost with its executor while the stage runs. */
  synchronized void taskResubmitted(int stageId, int partition) {
    setEnded(stageId, partition, false);
  }

  synchronized void stageEnded(int id) {
    if (forget(open.remove(id))) {
      stagesEnded++;
    }
  }

  /** The stage waits for its next attempt, or its job fails. */
  synchronized void stageFailed(int id) {
    Stage stage = open.get(id);
    if (stage != null) {
      setWaiting(stage, true);
    }
  }

  /**
   * Forgets the stages that wait: Spark tells of the job's failed stages before, and does not tell
   * which job a stage is of in a form that is the same for all versions of Scala.
   */
  synchronized void jobEnded() {
    if (waiting > 0) {
      open.values().removeIf(stage -> stage.isWaiting && forget(stage));
    }
  }

  synchronized String line() {
    return ProgressLine.of(stagesEnded, tasksEnded, tasks);
  }

  private void setEnded(int stageId, int partition, boolean ended) {
    Stage stage = open.get(stageId);
    if (stage == null || stage.ended.get(partition) == ended) {
      return;
    }
    stage.ended.set(partition, ended);
    tasksEnded -= stage.endedTasks();
    stage.endedNow += ended ? 1 : -1;
    tasksEnded += stage.endedTasks();
  }

  private void setWaiting(Stage stage, boolean isWaiting) {
    if (stage.isWaiting != isWaiting) {
      stage.isWaiting = isWaiting;
      waiting += isWaiting ? 1 : -1;
    }
  }

  private boolean forget(Stage stage) {
    if (stage == null) {
      return false;
    }
    setWaiting(stage, false);
    tasks -= stage.tasks;
    tasksEnded -= stage.endedTasks();
    return true;
  }
}
