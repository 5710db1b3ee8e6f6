//! The record, while things happen.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Ask, Container, QueueShare};
use elastane_runs::{LedgerSubject, OpenRun, Run, RunSeries, RunSettings};

use super::asked::Asked;
use super::cluster::PastContainer;

/// The oldest applications are forgotten beyond so many containers of ended ones, and beyond so many slots of
/// their series: 30 MB.
const MOST_CONTAINERS: usize = 50_000;
const MOST_SLOTS: usize = 1_000_000;

/// The record; empty while no mode is `advise`.
#[derive(Default)]
pub(crate) struct Past {
    /// None while nothing is recorded.
    since_ms: Option<i64>,
    running: HashMap<ApplicationId, RecordedApplication>,
    /// By YARN's id, where a running container is.
    places: HashMap<String, (ApplicationId, usize)>,
    /// Ended; the last samples of the first ones have not arrived.
    ended: VecDeque<Arc<RecordedApplication>>,
    kept: Kept,
    /// Known in every mode.
    queues: Vec<QueueShare>,
}

/// What the ended applications take.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    containers: usize,
    slots: usize,
}

/// One application so far.
#[derive(Debug, Clone)]
pub(crate) struct RecordedApplication {
    pub(crate) subject: LedgerSubject,
    pub(crate) settings: RunSettings,
    pub(crate) submitted_ms: i64,
    pub(crate) ended_ms: Option<i64>,
    pub(crate) containers: Vec<PastContainer>,
    /// None before its last samples have arrived.
    pub(crate) series: Option<Vec<RunSeries>>,
    asked: Asked,
}

impl RecordedApplication {
    /// The same with what is recorded of its run, which goes on.
    pub(crate) fn so_far(mut self, run: &OpenRun) -> Self {
        self.subject.application_key.clone_from(&run.application_key);
        self.series = Some(run.recorder.series());
        self
    }
}

impl Past {
    /// Records from now on, with what runs already; or forgets everything.
    pub(crate) fn go_on(&mut self, is_wanted: bool, cluster: &Cluster, now_ms: i64) {
        if !is_wanted {
            if self.since_ms.is_some() {
                let queues = std::mem::take(&mut self.queues);
                *self = Self { queues, ..Self::default() };
            }
            return;
        }
        if self.since_ms.is_some() {
            return;
        }
        self.since_ms = Some(now_ms);
        for (number, application) in cluster.applications() {
            let subject = LedgerSubject {
                application_id: application.id.clone(),
                queue: application.queue.clone(),
                application_key: String::new(),
                application_name: application.name.clone(),
                user: application.user.to_string(),
            };
            self.submitted(number, subject, RunSettings::default(), application.submitted_ms);
            if let Some(ask) = application.waiting.or(application.held) {
                self.asked(number, &ask, now_ms);
            }
        }
        let containers = cluster.nodes().flat_map(|(_, node)| node.containers());
        let running: Vec<_> = containers.map(|(id, _)| id.to_owned()).collect();
        for id in running {
            if let Some(container) = cluster.container(&id) {
                self.started(&id, container);
            }
        }
    }

    pub(crate) fn queues_are(&mut self, queues: &[QueueShare]) {
        queues.clone_into(&mut self.queues);
    }

    pub(crate) fn queues(&self) -> &[QueueShare] {
        &self.queues
    }

    /// Since when it is recorded; none where nothing is.
    pub(crate) fn since_ms(&self) -> Option<i64> {
        self.since_ms
    }

    pub(crate) fn submitted(
        &mut self,
        application: ApplicationId,
        subject: LedgerSubject,
        settings: RunSettings,
        now_ms: i64,
    ) {
        if self.since_ms.is_some() {
            let application_record = RecordedApplication {
                subject,
                settings,
                submitted_ms: now_ms,
                ended_ms: None,
                containers: Vec::new(),
                series: None,
                asked: Asked::default(),
            };
            self.running.insert(application, application_record);
        }
    }

    /// The queue in which it ends counts.
    pub(crate) fn moved(&mut self, application: ApplicationId, queue: &str) {
        if let Some(record) = self.running.get_mut(&application) {
            queue.clone_into(&mut record.subject.queue);
        }
    }

    pub(crate) fn asked(&mut self, application: ApplicationId, ask: &Ask, now_ms: i64) {
        if let Some(record) = self.running.get_mut(&application) {
            record.asked.are(ask.count, now_ms);
        }
    }

    /// What the first ask for executors says of the settings.
    pub(crate) fn asked_first(&mut self, application: ApplicationId, settings: &RunSettings) {
        if let Some(record) = self.running.get_mut(&application) {
            record.settings.0.extend(settings.0.clone());
        }
    }

    pub(crate) fn started(&mut self, id: &str, container: &Container) {
        let Some(record) = self.running.get_mut(&container.application) else {
            return;
        };
        let asked_ms = record.asked.starts().unwrap_or(container.start_ms);
        self.places.insert(id.to_owned(), (container.application, record.containers.len()));
        record.containers.push(PastContainer {
            kind: container.kind,
            node: container.node,
            request: container.request,
            asked_ms: asked_ms.min(container.start_ms),
            started_ms: container.start_ms,
            ended_ms: None,
        });
    }

    pub(crate) fn finished(&mut self, id: &str, now_ms: i64) {
        if let Some((application, place)) = self.places.remove(id)
            && let Some(record) = self.running.get_mut(&application)
            && let Some(container) = record.containers.get_mut(place)
        {
            container.ended_ms = Some(now_ms);
        }
    }

    /// An application ended, with its containers.
    pub(crate) fn ended(&mut self, application: ApplicationId, now_ms: i64) {
        let Some(mut record) = self.running.remove(&application) else {
            return;
        };
        record.ended_ms = Some(now_ms);
        for container in &mut record.containers {
            container.ended_ms.get_or_insert(now_ms);
        }
        self.kept.containers += record.containers.len();
        self.ended.push_back(Arc::new(record));
        self.forget_beyond(MOST_CONTAINERS, MOST_SLOTS);
    }

    /// The last samples of these runs have arrived.
    pub(crate) fn closed(&mut self, runs: &[Run]) {
        for run in runs {
            // The newest are the last ones.
            let mut newest_first = self.ended.iter_mut().rev();
            let found =
                newest_first.find(|record| record.subject.application_id == run.application_id);
            if let Some(record) = found {
                let record = Arc::make_mut(record);
                record.subject.application_key.clone_from(&run.application_key);
                self.kept.slots += slots(&run.series);
                record.series = Some(run.series.clone());
            }
        }
        if !runs.is_empty() {
            self.forget_beyond(MOST_CONTAINERS, MOST_SLOTS);
        }
    }

    /// Forgets the oldest ended applications; the record then begins with the oldest that is left.
    fn forget_beyond(&mut self, most_containers: usize, most_slots: usize) {
        while (self.kept.containers > most_containers || self.kept.slots > most_slots)
            && let Some(oldest) = self.ended.pop_front()
        {
            self.kept.containers -= oldest.containers.len();
            self.kept.slots -= oldest.series.as_deref().map_or(0, slots);
            self.since_ms = self.since_ms.max(oldest.ended_ms);
        }
    }

    /// The ended applications.
    pub(crate) fn all_ended(&self) -> Vec<Arc<RecordedApplication>> {
        self.ended.iter().cloned().collect()
    }

    /// The running applications, by their numbers.
    pub(crate) fn all_running(&self) -> Vec<ApplicationId> {
        self.running.keys().copied().collect()
    }

    pub(crate) fn running(&self, application: ApplicationId) -> Option<&RecordedApplication> {
        self.running.get(&application)
    }
}

fn slots(series: &[RunSeries]) -> usize {
    series.iter().map(|series| series.slots.len()).sum()
}

#[cfg(test)]
mod tests;
