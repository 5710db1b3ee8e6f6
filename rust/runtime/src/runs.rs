//! The runs that are being recorded: one for each application.

use std::collections::HashMap;

use elastane_core::SLOT_MS;
use elastane_core::cluster::{ApplicationId, Container};
use elastane_predict::{MOST_EXECUTOR_KINDS, Outcome, Run, RunRecorder};
use elastane_protocol::Sample;
use elastane_store::{self as store, Event};

use crate::amounts::used;

/// How often what is new is handed on to be saved.
const CHECKPOINT_MS: i64 = 3_000;

/// Agents keep their samples for two minutes: what lies before a longer break is lost.
const LONGEST_BREAK_MS: i64 = 120_000;

/// After so long the application of a restored run does not come back.
const GONE_AFTER_MS: i64 = 600_000;

/// The applications that run, and those that ended while their last samples are on the way.
#[derive(Default)]
pub(crate) struct Runs {
    open: HashMap<ApplicationId, OpenRun>,
    closing: HashMap<ApplicationId, (i64, OpenRun)>,
    departed: HashMap<String, (i64, Container)>,
    /// What an earlier process recorded of applications that have not come back yet.
    restored: HashMap<String, store::OpenRun>,
    /// When this process was first asked for what is new, and when it was last handed on.
    first_ms: Option<i64>,
    handed_on_ms: Option<i64>,
    /// When something last happened.
    latest_ms: i64,
    /// What is not handed on yet.
    news: Vec<Event>,
    resumed: u64,
}

struct OpenRun {
    key: String,
    id: String,
    name: String,
    started_ms: i64,
    ended_ms: i64,
    outcome: Outcome,
    /// An earlier process recorded its beginning.
    is_resumed: bool,
    recorder: RunRecorder,
}

impl Runs {
    /// With what an earlier process recorded of applications that run on.
    pub(crate) fn restored(runs: Vec<store::OpenRun>) -> Self {
        let restored = runs
            .into_iter()
            .map(|run| (run.application_id.clone(), run));
        Self {
            restored: restored.collect(),
            ..Self::default()
        }
    }

    /// Whether an earlier process knew this application.
    pub(crate) fn is_restored(&self, id: &str) -> bool {
        self.restored.contains_key(id)
    }

    pub(crate) fn begin(
        &mut self,
        application: ApplicationId,
        key: String,
        id: &str,
        name: &str,
        now_ms: i64,
    ) {
        self.latest_ms = now_ms;
        let mut run = OpenRun {
            key,
            id: id.to_owned(),
            name: name.to_owned(),
            started_ms: now_ms,
            ended_ms: now_ms,
            outcome: Outcome::Succeeded,
            is_resumed: false,
            recorder: RunRecorder::new(),
        };
        match self.restored.remove(id) {
            Some(earlier) => {
                self.resumed += 1;
                run.started_ms = earlier.started_ms;
                run.outcome = earlier.outcome;
                run.is_resumed = true;
                run.recorder = earlier.recorder;
                // One that still waits for its first container has missed nothing.
                let has_samples = !run.recorder.is_empty();
                self.open.insert(application, run);
                if has_samples && now_ms - earlier.sampled_ms > LONGEST_BREAK_MS {
                    self.cut(application);
                }
            }
            None => {
                self.news.push(Event::Begun {
                    application_id: run.id.clone(),
                    application_key: run.key.clone(),
                    application_name: run.name.clone(),
                    started_ms: run.started_ms,
                });
                self.open.insert(application, run);
            }
        }
    }

    /// A container of this run outlived a ResourceManager. Unless that one recorded it, the run's
    /// beginning was not seen, so nothing is to be learned from it.
    pub(crate) fn cut_off(&mut self, application: ApplicationId) {
        if self
            .open
            .get(&application)
            .is_some_and(|run| !run.is_resumed)
        {
            self.cut(application);
        }
    }

    fn cut(&mut self, application: ApplicationId) {
        if let Some(run) = self.open.get_mut(&application)
            && run.outcome != Outcome::CutOff
        {
            run.outcome = Outcome::CutOff;
            self.news.push(Event::CutOff {
                application_id: run.id.clone(),
            });
        }
    }

    /// The application ended; samples are taken until `until_ms`.
    pub(crate) fn end(
        &mut self,
        application: ApplicationId,
        succeeded: bool,
        now_ms: i64,
        until_ms: i64,
    ) {
        if let Some(mut run) = self.open.remove(&application) {
            self.latest_ms = now_ms;
            run.ended_ms = now_ms;
            if !succeeded && run.outcome == Outcome::Succeeded {
                run.outcome = Outcome::Failed;
            }
            self.news.push(Event::Ended {
                application_id: run.id.clone(),
                ended_ms: now_ms,
                outcome: run.outcome,
            });
            self.closing.insert(application, (until_ms, run));
        }
    }

    /// What is new since the last time, once that was a while ago.
    pub(crate) fn take_news(&mut self, now_ms: i64) -> Option<Vec<Event>> {
        let first_ms = *self.first_ms.get_or_insert(now_ms);
        if self
            .handed_on_ms
            .is_some_and(|last_ms| now_ms - last_ms < CHECKPOINT_MS)
        {
            return None;
        }
        self.handed_on_ms = Some(now_ms);
        if now_ms - first_ms >= GONE_AFTER_MS {
            self.drop_restored();
        }
        self.take_all_news()
    }

    /// What is new since the last time.
    pub(crate) fn take_all_news(&mut self) -> Option<Vec<Event>> {
        (!self.news.is_empty()).then(|| std::mem::take(&mut self.news))
    }

    /// All that is recorded, where what was handed on before is not saved.
    pub(crate) fn take_whole(&mut self, now_ms: i64) -> Vec<Event> {
        // It is in there.
        self.news.clear();
        self.handed_on_ms = Some(now_ms);
        let open = self.open.values().map(|run| run.whole(None, now_ms));
        let closing = self.closing.values();
        let closing = closing.map(|(_, run)| run.whole(Some(run.ended_ms), now_ms));
        let restored = self.restored.values().cloned();
        let whole = open.chain(closing).chain(restored);
        whole.map(|run| Event::Whole(Box::new(run))).collect()
    }

    /// When something last happened.
    pub(crate) fn latest_ms(&self) -> i64 {
        self.latest_ms
    }

    fn drop_restored(&mut self) {
        for application_id in std::mem::take(&mut self.restored).into_keys() {
            log::warn!("{application_id} did not come back, what was recorded of it is dropped");
            self.news.push(Event::Dropped { application_id });
        }
    }

    /// A container ended; its last samples are taken until `until_ms`.
    pub(crate) fn container_ended(&mut self, id: &str, container: Container, until_ms: i64) {
        self.departed.insert(id.to_owned(), (until_ms, container));
    }

    /// A container that ended a moment ago.
    pub(crate) fn departed(&self, container: &str) -> Option<&Container> {
        self.departed.get(container).map(|(_, container)| container)
    }

    /// Adds a sample that was closed at `end_ms`.
    pub(crate) fn add(&mut self, id: &str, container: &Container, sample: &Sample, end_ms: i64) {
        let run = match self.open.get_mut(&container.application) {
            Some(run) => run,
            None => match self.closing.get_mut(&container.application) {
                Some((_, run)) => run,
                None => return,
            },
        };
        let since_start_ms = end_ms - container.start_ms;
        let used = used(&sample.usage);
        self.latest_ms = self.latest_ms.max(end_ms);
        self.news.push(Event::Sampled {
            application_id: run.id.clone(),
            container: id.to_owned(),
            kind: container.kind,
            sample_end_since_start_ms: since_start_ms,
            length_ms: sample.length_ms,
            usage: used,
        });
        run.recorder
            .add(id, container.kind, since_start_ms, sample.length_ms, used);
    }

    /// The runs whose last samples have arrived by now.
    pub(crate) fn take_closed(&mut self, now_ms: i64) -> Vec<Run> {
        self.departed.retain(|_, (until_ms, _)| *until_ms > now_ms);
        let closed: Vec<_> = self
            .closing
            .iter()
            .filter(|(_, (until_ms, _))| *until_ms <= now_ms)
            .map(|(application, _)| *application)
            .collect();
        closed
            .into_iter()
            .filter_map(|application| self.closing.remove(&application))
            .map(|(_, run)| run.into_run())
            .collect()
    }

    /// Every run that ended, whether or not its last samples have arrived.
    pub(crate) fn take_ended(&mut self) -> Vec<Run> {
        self.take_closed(i64::MAX)
    }

    pub(crate) fn recording(&self) -> usize {
        self.open.len()
    }

    /// How many runs an earlier process began.
    pub(crate) fn resumed(&self) -> u64 {
        self.resumed
    }
}

impl OpenRun {
    /// As it is saved at this time.
    fn whole(&self, ended_ms: Option<i64>, now_ms: i64) -> store::OpenRun {
        store::OpenRun {
            application_id: self.id.clone(),
            application_key: self.key.clone(),
            application_name: self.name.clone(),
            started_ms: self.started_ms,
            ended_ms,
            outcome: self.outcome,
            sampled_ms: now_ms,
            recorder: self.recorder.clone(),
        }
    }

    fn into_run(self) -> Run {
        let left_out = self.recorder.left_out();
        if left_out > 0 {
            log::info!(
                "{left_out} samples of {} are not recorded: they came late, say nothing that can be, \
                 or are of executors at more than {MOST_EXECUTOR_KINDS} priorities",
                self.id
            );
        }
        Run {
            application_key: self.key,
            application_id: self.id,
            application_name: self.name,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            outcome: self.outcome,
            series: self.recorder.series(),
        }
    }
}

/// How long samples of something that ended may still arrive: two reports and one slot.
pub(crate) fn last_samples_ms(report_interval_ms: i64) -> i64 {
    2 * report_interval_ms + i64::from(SLOT_MS)
}
