package org.elastane.spark;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How many stages of the application have ended and how long ago the latest did, and the parts of
 * the tasks that began and ended of those stages that started and have not ended.
 *
 * <p>Spark's listener thread tells what happened, threads of its RPC ask. Every call but {@link
 * #jobEnded} takes constant time.
 */
class StageProgress {
  private static final class Stage {
    final int tasks;
    final BitSet begun = new BitSet();
    final BitSet ended = new BitSet();

    /** Tasks whose results the stage kept from earlier attempts. */
    int endedBefore;

    int begunNow;
    int endedNow;

    Stage(int tasks) {
      this.tasks = tasks;
    }

    /** A task of an earlier attempt can end twice: then, and now. */
    int endedTasks() {
      return Math.min(tasks, endedBefore + endedNow);
    }

    int begunTasks() {
      return Math.min(tasks, endedBefore + begunNow);
    }
  }

  private final Map<Integer, Stage> open = new HashMap<>();
  private int jobs;
  private long stagesEnded;
  private long tasks;
  private long tasksBegun;
  private long tasksEnded;
  private final LongSupplier nowMs;
  private long latestEndMs;

  /**
   * @param nowMs a clock that is never set back
   */
  StageProgress(LongSupplier nowMs) {
    this.nowMs = nowMs;
    this.latestEndMs = nowMs.getAsLong();
  }

  /**
   * @param missing the tasks of this attempt: of a later one, those without a result
   */
  synchronized void stageSubmitted(int id, int attempt, int missing) {
    Stage stage = open.get(id);
    if (stage != null) {
      subtract(stage);
      stage.begun.clear();
      stage.ended.clear();
      stage.begunNow = 0;
      stage.endedNow = 0;
      stage.endedBefore = Math.max(0, stage.tasks - missing);
      add(stage);
    } else if (attempt == 0) {
      // A later attempt of no open stage computes lost results of one that has ended again.
      open.put(id, new Stage(missing));
      tasks += missing;
    }
  }

  /** Of two attempts at the same partition the second changes nothing, here and below. */
  synchronized void taskBegan(int stageId, int partition) {
    Stage stage = open.get(stageId);
    if (stage != null) {
      set(stage, partition, true, stage.ended.get(partition));
    }
  }

  synchronized void taskSucceeded(int stageId, int partition) {
    Stage stage = open.get(stageId);
    if (stage != null) {
      set(stage, partition, true, true);
    }
  }

  /** The result was lost with its executor while the stage runs. */
  synchronized void taskResubmitted(int stageId, int partition) {
    Stage stage = open.get(stageId);
    if (stage != null) {
      set(stage, partition, false, false);
    }
  }

  synchronized void stageEnded(int id) {
    if (forget(open.remove(id))) {
      stagesEnded++;
      latestEndMs = nowMs.getAsLong();
    }
  }

  synchronized void jobBegan() {
    jobs++;
  }

  /**
   * Forgets all stages once no job runs: those of jobs that failed, and those whose end Spark did
   * not tell because too many events waited. Which stages are a job's, Spark does not tell in a
   * form that is the same for all versions of Scala. So while another job runs, they stay.
   */
  synchronized void jobEnded() {
    jobs = Math.max(0, jobs - 1);
    if (jobs == 0) {
      open.values().removeIf(this::forget);
    }
  }

  synchronized String line() {
    return ProgressLine.of(
        stagesEnded, nowMs.getAsLong() - latestEndMs, tasksEnded, tasksBegun, tasks);
  }

  private void set(Stage stage, int partition, boolean begun, boolean ended) {
    subtract(stage);
    stage.begunNow += change(stage.begun, partition, begun);
    stage.endedNow += change(stage.ended, partition, ended);
    add(stage);
  }

  private static int change(BitSet tasks, int partition, boolean isSet) {
    if (tasks.get(partition) == isSet) {
      return 0;
    }
    tasks.set(partition, isSet);
    return isSet ? 1 : -1;
  }

  private void add(Stage stage) {
    tasksBegun += stage.begunTasks();
    tasksEnded += stage.endedTasks();
  }

  private void subtract(Stage stage) {
    tasksBegun -= stage.begunTasks();
    tasksEnded -= stage.endedTasks();
  }

  private boolean forget(Stage stage) {
    if (stage == null) {
      return false;
    }
    tasks -= stage.tasks;
    subtract(stage);
    return true;
  }
}
