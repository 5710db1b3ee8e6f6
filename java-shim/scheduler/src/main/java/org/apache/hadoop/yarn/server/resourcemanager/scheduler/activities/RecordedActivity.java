package org.apache.hadoop.yarn.server.resourcemanager.scheduler.activities;

import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.fica.FiCaSchedulerNode;

/**
 * What an application waits for, for {@code /ws/v1/cluster/scheduler/app-activities}. In this
 * package because {@link ActivitiesManager} tells nobody else whether somebody asked.
 */
public final class RecordedActivity {
  private RecordedActivity() {}

  /**
   * Whether somebody asks for the activities of an application; then {@link #finish} is to be
   * called by this thread, if there is something to say.
   *
   * @param node null for none
   */
  public static boolean begin(
      ActivitiesManager manager,
      FiCaSchedulerNode node,
      long nowMs,
      SchedulerApplicationAttempt attempt) {
    ActivitiesLogger.APP.startAppAllocationRecording(manager, node, nowMs, attempt);
    return manager.shouldRecordThisApp(attempt.getApplicationId());
  }

  /** The application was skipped, for this reason. */
  public static void finish(
      ActivitiesManager manager, SchedulerApplicationAttempt attempt, String reason) {
    ActivitiesLogger.APP.finishSkippedAppAllocationRecording(
        manager, attempt.getApplicationId(), ActivityState.SKIPPED, reason);
  }
}
