package org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity;

import static org.apache.hadoop.metrics2.lib.Interns.info;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
import org.apache.hadoop.metrics2.MetricsInfo;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;

/**
 * A number of the core's status that is published as a metric, and is not there while the core
 * gives no status: a counter that fell to 0 and came back would count everything twice.
 */
enum CoreFigure {
  NODES_ENFORCED("NodesEnforced", "Nodes at which decisions are enforced"),
  AGENTS_FRESH("AgentsFresh", "Nodes whose agent's report is recent enough to act on"),
  AGENTS_SILENT("AgentsSilent", "Nodes whose agent never reported, or too long ago to act on"),
  CONTAINERS("Containers", "Containers that run"),
  PREDICTED_CONTAINERS(
      "PredictedContainers", "Containers planned by a profile on nodes whose report is recent"),
  MEAN_MARGIN_PERCENT(
      "MeanMarginPercent", "Mean safety margin of the containers planned by a profile"),
  WAITING_APPLICATIONS("WaitingApplications", "Applications that wait for a container"),
  WAITING_CONTAINERS("WaitingContainers", "Containers that applications wait for"),
  RUNS_RECORDING("RunsRecording", "Runs that are being recorded"),
  PROFILES("Profiles", "Profiles in memory"),
  LEARNER_ALIVE("LearnerAlive", "1 while the thread runs that learns and saves runs"),
  LEARNER_BACKLOG(
      "LearnerBacklog", "Work that the thread that learns and saves runs has not finished"),
  RUNS_RESUMED(Kind.COUNT, "RunsResumed", "Runs that an earlier process began to record"),
  ADMITTED_BY_CORE(Kind.COUNT, "AdmittedByCore", "Commits that the core checked and admitted"),
  ADMITTED_BY_CAPACITY_SCHEDULER(
      Kind.COUNT, "AdmittedByCapacityScheduler", "Commits that the core was only told of"),
  SAMPLES(Kind.COUNT, "Samples", "Samples of containers' use"),
  REPEATED_SAMPLES(Kind.COUNT, "RepeatedSamples", "Samples that had arrived before"),
  SAMPLES_LOST(Kind.COUNT, "SamplesLost", "Samples dropped because they could not be saved"),
  PREDICTED_MS(Kind.SECONDS, "PredictedSeconds", "Measured time of containers with a profile"),
  CPU_COVERED_MS(
      Kind.SECONDS,
      "CpuCoveredSeconds",
      "Measured time in which CPU use was within prediction and margin"),
  MEMORY_COVERED_MS(
      Kind.SECONDS,
      "MemoryCoveredSeconds",
      "Measured time in which memory was within prediction and margin"),
  PREDICTED_CORE_MS(
      Kind.SECONDS,
      "PredictedCoreSeconds",
      "CPU predicted for the measured time of containers with a profile"),
  PREDICTED_USED_CORE_MS(
      Kind.SECONDS,
      "PredictedUsedCoreSeconds",
      "CPU used in the measured time of containers with a profile"),
  PREDICTED_MB_MS(
      Kind.SECONDS,
      "PredictedMBSeconds",
      "Memory predicted for the measured time of containers with a profile"),
  PREDICTED_USED_MB_MS(
      Kind.SECONDS,
      "PredictedUsedMBSeconds",
      "Memory used in the measured time of containers with a profile"),
  FORESEEN_BY_RUNS(Kind.COUNT, "ForeseenByRuns", "Predictions from runs of the same settings"),
  FORESEEN_BY_SETTINGS(Kind.COUNT, "ForeseenBySettings", "Predictions by a model of settings"),
  FORESEEN_BY_OTHERS(Kind.COUNT, "ForeseenByOthers", "Predictions from other applications"),
  FORESEEN_BY_REQUEST(
      Kind.COUNT, "ForeseenByRequest", "Requests taken as they are though runs were known"),
  MODELS_TRAINED(Kind.COUNT, "ModelsTrained", "Models of settings that were trained"),
  DEADLINES_MET(Kind.COUNT, "DeadlinesMet", "Applications that ended by their deadline"),
  DEADLINES_MISSED(
      Kind.COUNT, "DeadlinesMissed", "Applications that ended after their deadline, or failed"),
  SPARED_MEMORY_VICTIMS(
      Kind.COUNT, "SparedMemoryVictims", "Containers that were told to end and need not"),
  REFUSED_MEMORY_VICTIMS(
      Kind.COUNT, "RefusedMemoryVictims", "Containers that an agent named and the core kept"),
  EXECUTORS_TOLD_TO_LEAVE(
      Kind.COUNT, "ExecutorsToldToLeave", "Executors told to leave nodes short of memory"),
  EXECUTORS_DRAINED(
      Kind.COUNT, "ExecutorsDrained", "Executors told to leave nodes being decommissioned"),
  EXECUTORS_THAT_CANNOT_LEAVE(
      Kind.COUNT,
      "ExecutorsThatCannotLeave",
      "Containers that were to leave and were not signalled"),
  REPROVISION_WINDOWS(Kind.COUNT, "ReprovisionWindows", "Windows opened for slow containers"),
  REPROVISION_MEASURED(Kind.COUNT, "ReprovisionMeasured", "Windows that measured a demand"),
  REPROVISION_TOO_LITTLE_LEFT(
      Kind.COUNT, "ReprovisionTooLittleLeft", "Windows that nothing could be lent for"),
  PREVIOUS_VERSION_REPORTS(
      Kind.COUNT, "PreviousVersionReports", "Reports in the previous version of the protocol"),
  PLANNING_FAILURES(Kind.COUNT, "PlanningFailures", "Searches of planned starts that panicked"),
  LEARNING_FAILURES(Kind.COUNT, "LearningFailures", "Steps of learning that panicked"),
  DEPOSITORY_FAILURES(
      Kind.COUNT, "DepositoryFailures", "Times that the depository could not be opened"),
  JOURNAL_FAILURES(
      Kind.COUNT, "JournalFailures", "Times that the journal could not be opened or written"),
  JOURNAL_DROPPED(Kind.COUNT, "JournalDropped", "Records of the journal that were dropped"),
  CHECKPOINTS_FAILED(Kind.COUNT, "CheckpointsFailed", "Running applications not saved"),
  RUN_SAVES_FAILED(Kind.COUNT, "RunSavesFailed", "Attempts to save ended runs that failed");

  private final Kind kind;
  private final String key;
  private final String metric;
  private final String about;

  CoreFigure(String name, String about) {
    this(Kind.GAUGE, name, about);
  }

  CoreFigure(Kind kind, String name, String about) {
    this.kind = kind;
    key = name().toLowerCase(Locale.ROOT);
    metric = name;
    this.about = about;
  }

  /** The name in the core's status. */
  String key() {
    return key;
  }

  /**
   * @param status the core's; adds nothing where it lacks the number
   */
  void add(MetricsRecordBuilder builder, JsonNode status) {
    JsonNode value = status.path(key);
    if (value.isMissingNode()) {
      return;
    }
    MetricsInfo info = info(metric, about);
    switch (kind) {
      case COUNT:
        builder.addCounter(info, value.asLong());
        break;
      case SECONDS:
        builder.addCounter(info, value.asLong() / 1000);
        break;
      default:
        JsonGauge.add(builder, info, value);
    }
  }

  private enum Kind {
    GAUGE,
    COUNT,
    /** A count of milliseconds, or of amounts times milliseconds. */
    SECONDS
  }
}
