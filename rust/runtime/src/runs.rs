//! The runs that are being recorded, one for each application.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::SLOT_MS;
use elastane_core::cluster::{ApplicationId, Container};
use elastane_protocol::{Sample, StageProgress};
use elastane_runs::{
    ContainerSample, Crowding, MOST_EXECUTOR_KINDS, OpenRun, Outcome, Run, RunEvent, RunSettings,
    SubmissionRecord,
};

use crate::amounts::used;
use crate::node_cpu::NodeCpu;

/// The interval of checkpoints.
const CHECKPOINT_MS: i64 = 3_000;

/// Agents keep samples for two minutes; a longer break loses samples.
const LONGEST_BREAK_MS: i64 = 120_000;

/// Three reports: an application master and its executor are measured at different moments.
const MEANWHILE_MS: u64 = 10_000;

/// A restored run whose application has not come back by then is dropped.
const GONE_AFTER_MS: i64 = 600_000;

/// Runs of running applications, and of those that ended while their last samples are on the way.
#[derive(Default)]
pub(crate) struct Runs {
    recordings: HashMap<ApplicationId, Recording>,
    departed: HashMap<Arc<str>, (i64, Container)>,
    /// Runs that an earlier process recorded, of applications that have not come back yet.
    restored: HashMap<String, OpenRun>,
    /// The times of the first and the latest checkpoint of this process.
    first_ms: Option<i64>,
    handed_on_ms: Option<i64>,
    /// When something last happened.
    latest_ms: i64,
    /// Changes since the latest checkpoint.
    news: Vec<RunEvent>,
    resumed: u64,
}

struct Recording {
    /// YARN's, shared by all events.
    id: Arc<str>,
    run: OpenRun,
    /// Of the submission, and from the first ask for executors on also of the ask.
    settings: RunSettings,
    /// An earlier process recorded its beginning.
    is_resumed: bool,
    /// The application ended, and its samples count until this time.
    until_ms: Option<i64>,
    /// How its application master was crowded, and when.
    master: Option<(i64, Crowding)>,
}

impl Runs {
    /// With the runs of an earlier process whose applications may still run.
    pub(crate) fn restored(runs: Vec<OpenRun>) -> Self {
        let restored = runs.into_iter().map(|run| (run.application_id.clone(), run));
        Self { restored: restored.collect(), ..Self::default() }
    }

    /// Whether an earlier process knew this application.
    pub(crate) fn is_restored(&self, id: &str) -> bool {
        self.restored.contains_key(id)
    }

    pub(crate) fn begin(&mut self, application: ApplicationId, submission: &SubmissionRecord) {
        let now_ms = submission.submitted_ms;
        self.latest_ms = now_ms;
        let earlier = self.restored.remove(&submission.application_id);
        let is_resumed = earlier.is_some();
        let run = OpenRun {
            application_id: submission.application_id.clone(),
            application_key: submission.application_key.clone(),
            application_name: submission.application_name.clone(),
            ..earlier.unwrap_or_else(|| OpenRun::begun(now_ms))
        };
        if is_resumed {
            self.resumed += 1;
        } else {
            self.news.push(RunEvent::Whole(Box::new(run.clone())));
        }
        // An application without a container yet has missed no sample.
        let has_gap = !run.recorder.is_empty() && now_ms - run.sampled_ms > LONGEST_BREAK_MS;
        let settings = RunSettings(submission.settings.clone());
        let id = run.application_id.as_str().into();
        let recording = Recording { id, run, settings, is_resumed, until_ms: None, master: None };
        self.recordings.insert(application, recording);
        if has_gap {
            self.cut(application);
        }
    }

    /// What the first ask for executors says of the settings.
    pub(crate) fn asked_first(&mut self, application: ApplicationId, settings: &RunSettings) {
        if let Some(recording) = self.recordings.get_mut(&application) {
            recording.settings.0.extend(settings.0.clone());
        }
    }

    /// A container of this run outlived a ResourceManager. Unless that ResourceManager recorded the run,
    /// its beginning was not seen and nothing is learned from it.
    pub(crate) fn cut_off(&mut self, application: ApplicationId) {
        let recording = self.recordings.get(&application);
        if recording.is_some_and(|it| !it.is_resumed) {
            self.cut(application);
        }
    }

    fn cut(&mut self, application: ApplicationId) {
        if let Some(Recording { run, until_ms, .. }) = self.recordings.get_mut(&application)
            && until_ms.is_none()
            && run.outcome != Outcome::CutOff
        {
            run.outcome = Outcome::CutOff;
            self.news.push(RunEvent::CutOff { application_id: run.application_id.clone() });
        }
    }

    /// The application ended; its samples count until `until_ms`.
    pub(crate) fn end(
        &mut self,
        application: ApplicationId,
        succeeded: bool,
        now_ms: i64,
        until_ms: i64,
    ) {
        if let Some(recording) = self.recordings.get_mut(&application)
            && recording.until_ms.is_none()
        {
            recording.until_ms = Some(until_ms);
            self.latest_ms = now_ms;
            let run = &mut recording.run;
            run.ended_ms = Some(now_ms);
            if !succeeded && run.outcome == Outcome::Succeeded {
                run.outcome = Outcome::Failed;
            }
            self.news.push(RunEvent::Ended {
                application_id: run.application_id.clone(),
                ended_ms: now_ms,
                outcome: run.outcome,
            });
        }
    }

    /// The changes since the latest checkpoint, if the next one is due.
    pub(crate) fn take_news(&mut self, now_ms: i64) -> Option<Vec<RunEvent>> {
        let first_ms = *self.first_ms.get_or_insert(now_ms);
        let last_ms = self.handed_on_ms;
        if last_ms.is_some_and(|last_ms| now_ms - last_ms < CHECKPOINT_MS) {
            return None;
        }
        self.handed_on_ms = Some(now_ms);
        if now_ms - first_ms >= GONE_AFTER_MS {
            self.drop_restored();
        }
        self.take_all_news()
    }

    /// The changes since the latest checkpoint.
    pub(crate) fn take_all_news(&mut self) -> Option<Vec<RunEvent>> {
        (!self.news.is_empty()).then(|| std::mem::take(&mut self.news))
    }

    /// The whole state of all runs, for a depository that lacks earlier checkpoints.
    pub(crate) fn take_whole(&mut self, now_ms: i64) -> Vec<RunEvent> {
        // The whole state contains the changes.
        self.news.clear();
        self.handed_on_ms = Some(now_ms);
        let recorded = self
            .recordings
            .values()
            .map(|recording| OpenRun { sampled_ms: now_ms, ..recording.run.clone() });
        let whole = recorded.chain(self.restored.values().cloned());
        whole.map(|run| RunEvent::Whole(Box::new(run))).collect()
    }

    /// When something last happened.
    pub(crate) fn latest_ms(&self) -> i64 {
        self.latest_ms
    }

    fn drop_restored(&mut self) {
        for application_id in std::mem::take(&mut self.restored).into_keys() {
            log::warn!("{application_id} did not come back: its run is dropped");
            self.news.push(RunEvent::Dropped { application_id });
        }
    }

    /// A container ended; its samples count until `until_ms`.
    pub(crate) fn container_ended(&mut self, id: &str, container: Container, until_ms: i64) {
        self.departed.insert(id.into(), (until_ms, container));
    }

    /// A container that ended a moment ago, and its id.
    pub(crate) fn departed(&self, container: &str) -> Option<(&Arc<str>, &Container)> {
        let (id, (_, container)) = self.departed.get_key_value(container)?;
        Some((id, container))
    }

    /// Adds a sample, closed at `end_ms`, of a container on this node.
    pub(crate) fn add(
        &mut self,
        id: &Arc<str>,
        container: &Container,
        sample: &Sample,
        end_ms: i64,
        node: &NodeCpu,
    ) {
        let Some(recording) = self.recordings.get_mut(&container.application) else {
            return;
        };
        let crowding = node.crowding_of(sample);
        let is_master = container.kind.is_application_master();
        let master = recording.master_at(end_ms).filter(|_| !is_master);
        let since_start_ms = end_ms - container.start_ms;
        let sample = ContainerSample::new(since_start_ms, sample.length_ms, used(&sample.usage))
            .crowded(&crowding, master, node.capacity());
        if is_master {
            recording.master = Some((end_ms, crowding));
        }
        self.latest_ms = self.latest_ms.max(end_ms);
        self.news.push(RunEvent::Sampled {
            application_id: Arc::clone(&recording.id),
            container: Arc::clone(id),
            kind: container.kind,
            sample,
        });
        recording.run.recorder.add(Arc::clone(id), container.kind, sample);
    }

    /// What a container's application tells of its stages.
    pub(crate) fn stages_told(
        &mut self,
        id: &Arc<str>,
        container: &Container,
        stages: StageProgress,
        now_ms: i64,
    ) {
        let Some(recording) = self.recordings.get_mut(&container.application) else {
            return;
        };
        let since_start_ms = now_ms - i64::from(stages.since_ms) - container.start_ms;
        if recording.run.recorder.stages_ended(id, stages.stages_ended, since_start_ms) {
            self.news.push(RunEvent::StagesEnded {
                application_id: Arc::clone(&recording.id),
                container: Arc::clone(id),
                stages: stages.stages_ended,
                since_start_ms,
            });
        }
    }

    /// The runs whose last samples have arrived by now.
    pub(crate) fn take_closed(&mut self, now_ms: i64) -> Vec<Run> {
        self.departed.retain(|_, (until_ms, _)| *until_ms > now_ms);
        let closed = self
            .recordings
            .extract_if(|_, recording| recording.until_ms.is_some_and(|it| it <= now_ms));
        closed.map(|(_, it)| into_run(it.run)).collect()
    }

    /// Every run that ended, also those whose last samples have not arrived.
    pub(crate) fn take_ended(&mut self) -> Vec<Run> {
        self.take_closed(i64::MAX)
    }

    /// The run of a running application so far.
    pub(crate) fn open(&self, application: ApplicationId) -> Option<&OpenRun> {
        self.recordings.get(&application).map(|recording| &recording.run)
    }

    /// The settings of a running application.
    pub(crate) fn settings(&self, application: ApplicationId) -> Option<&RunSettings> {
        self.recordings.get(&application).map(|recording| &recording.settings)
    }

    pub(crate) fn recording(&self) -> usize {
        let open = self.recordings.values().filter(|it| it.until_ms.is_none());
        open.count()
    }

    /// The number of runs that an earlier process began.
    pub(crate) fn resumed(&self) -> u64 {
        self.resumed
    }
}

impl Recording {
    /// How the application master was crowded at about that time.
    fn master_at(&self, time_ms: i64) -> Option<&Crowding> {
        let (at_ms, crowding) = self.master.as_ref()?;
        (at_ms.abs_diff(time_ms) <= MEANWHILE_MS).then_some(crowding)
    }
}

fn into_run(run: OpenRun) -> Run {
    let left_out = run.recorder.left_out();
    if left_out > 0 {
        log::info!(
            "{left_out} samples of {} are not recorded: they came late, have impossible amounts, or \
             are of executors at more than {MOST_EXECUTOR_KINDS} priorities",
            run.application_id
        );
    }
    run.into_run()
}

/// Samples of an ended container may arrive for two reports and one slot.
pub(crate) fn last_samples_ms(report_interval_ms: i64) -> i64 {
    2 * report_interval_ms + i64::from(SLOT_MS)
}
