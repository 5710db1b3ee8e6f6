//! The runs that are being recorded: one for each application.

use std::collections::HashMap;

use elastane_core::SLOT_MS;
use elastane_core::cluster::{ApplicationId, Container};
use elastane_predict::{ContainerKind, Outcome, Run, RunRecorder};
use elastane_protocol::Sample;

use crate::amounts::used;

/// The applications that run, and those that ended while their last samples are on the way.
#[derive(Default)]
pub(crate) struct Runs {
    open: HashMap<ApplicationId, OpenRun>,
    closing: HashMap<ApplicationId, (i64, OpenRun)>,
    departed: HashMap<String, (i64, Container)>,
}

struct OpenRun {
    key: String,
    id: String,
    name: String,
    started_ms: i64,
    ended_ms: i64,
    outcome: Outcome,
    recorder: RunRecorder,
}

impl Runs {
    pub(crate) fn begin(
        &mut self,
        application: ApplicationId,
        key: String,
        id: &str,
        name: &str,
        now_ms: i64,
    ) {
        let run = OpenRun {
            key,
            id: id.to_owned(),
            name: name.to_owned(),
            started_ms: now_ms,
            ended_ms: now_ms,
            outcome: Outcome::Succeeded,
            recorder: RunRecorder::new(),
        };
        self.open.insert(application, run);
    }

    /// The beginning of this run was not seen, so nothing is to be learned from it.
    pub(crate) fn cut_off(&mut self, application: ApplicationId) {
        if let Some(run) = self.open.get_mut(&application) {
            run.outcome = Outcome::CutOff;
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
            run.ended_ms = now_ms;
            if !succeeded && run.outcome == Outcome::Succeeded {
                run.outcome = Outcome::Failed;
            }
            self.closing.insert(application, (until_ms, run));
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
        let kind = if container.application_master {
            ContainerKind::ApplicationMaster
        } else {
            ContainerKind::Executor
        };
        let since_start_ms = end_ms - container.start_ms;
        let used = used(&sample.usage);
        run.recorder
            .add(id, kind, since_start_ms, sample.length_ms, used);
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
}

impl OpenRun {
    fn into_run(self) -> Run {
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
