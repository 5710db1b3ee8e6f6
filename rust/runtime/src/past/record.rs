//! The record, while things happen.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Ask, Container, QueueShare};
use elastane_runs::{LedgerSubject, OpenRun, Run, RunSeries, RunSettings};

use super::asked::OpenAsks;
use super::cluster::PastContainer;

/// The largest numbers of containers, and of slots of their series, that are kept of ended applications: 30 MB. Beyond
/// them the oldest applications are forgotten.
const MOST_CONTAINERS: usize = 50_000;
const MOST_SLOTS: usize = 1_000_000;

/// Of one application; later ones are not recorded.
const MOST_OF_ONE: usize = 10_000;

/// A container that ends so soon did not run: another part of YARN refused it.
const REFUSED_WITHIN_MS: i64 = 100;

/// The last samples of a run arrive sooner after its end.
const LAST_SAMPLES_MS: i64 = 300_000;

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
    kept: EndedSize,
    /// Known in every mode.
    queues: Vec<QueueShare>,
}

/// What the ended applications take.
#[derive(Debug, Clone, Copy, Default)]
struct EndedSize {
    containers: usize,
    slots: usize,
}

/// One application so far.
#[derive(Debug, Clone)]
pub(crate) struct RecordedApplication {
    pub(crate) subject: LedgerSubject,
    /// Those of its first ask for executors included; none before its end.
    pub(crate) settings: RunSettings,
    pub(crate) submitted_ms: i64,
    pub(crate) ended_ms: Option<i64>,
    pub(crate) containers: Vec<PastContainer>,
    /// None before its last samples have arrived.
    pub(crate) series: Option<Vec<RunSeries>>,
    asked: OpenAsks,
}

impl RecordedApplication {
    /// The same with what is recorded of its run, which goes on.
    pub(crate) fn so_far(mut self, run: &OpenRun, settings: &RunSettings) -> Self {
        self.subject.application_key.clone_from(&run.application_key);
        self.settings = settings.clone();
        self.series = Some(run.recorder.series());
        self
    }

    /// What it counts for, where the record's size is bounded.
    fn weight(&self) -> usize {
        self.containers.len().max(1)
    }
}

impl Past {
    /// Begins to record, with what runs already, or forgets everything; unless it is so already.
    pub(crate) fn set_recording(&mut self, is_wanted: bool, cluster: &Cluster, now_ms: i64) {
        if is_wanted == self.since_ms.is_some() {
            return;
        }
        let queues = std::mem::take(&mut self.queues);
        *self = Self { queues, since_ms: is_wanted.then_some(now_ms), ..Self::default() };
        if !is_wanted {
            return;
        }
        for (number, application) in cluster.applications() {
            let subject = LedgerSubject {
                application_id: application.id.clone(),
                queue: application.queue.to_string(),
                application_key: String::new(),
                application_name: application.name.clone(),
                user: application.user.to_string(),
            };
            self.submitted(number, subject, application.submitted_ms);
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
        now_ms: i64,
    ) {
        if self.since_ms.is_some() {
            let record = RecordedApplication {
                subject,
                settings: RunSettings::default(),
                submitted_ms: now_ms,
                ended_ms: None,
                containers: Vec::new(),
                series: None,
                asked: OpenAsks::default(),
            };
            self.running.insert(application, record);
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
            record.asked.set_count(ask.count, now_ms);
        }
    }

    pub(crate) fn started(&mut self, id: &str, container: &Container) {
        let Some(record) = self.running.get_mut(&container.application) else {
            return;
        };
        let asked_ms = record.asked.take_oldest().unwrap_or(container.start_ms);
        // One that outlived a ResourceManager is older than the submission that its successor recovered.
        record.submitted_ms = record.submitted_ms.min(container.start_ms);
        if record.containers.len() >= MOST_OF_ONE {
            return;
        }
        self.places.insert(id.to_owned(), (container.application, record.containers.len()));
        record.containers.push(PastContainer {
            kind: container.kind,
            node: container.node,
            label: Arc::clone(container.label()),
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
            if now_ms - container.started_ms < REFUSED_WITHIN_MS {
                container.ended_ms = Some(container.started_ms);
                record.asked.give_back(container.asked_ms);
            }
        }
    }

    /// An application with these settings ended, with its containers.
    pub(crate) fn ended(
        &mut self,
        application: ApplicationId,
        settings: Option<&RunSettings>,
        now_ms: i64,
    ) {
        let Some(mut record) = self.running.remove(&application) else {
            return;
        };
        record.ended_ms = Some(now_ms);
        record.settings = settings.cloned().unwrap_or_default();
        record.containers.retain(|container| container.ended_ms != Some(container.started_ms));
        record.containers.shrink_to_fit();
        for container in &mut record.containers {
            container.ended_ms.get_or_insert(now_ms);
        }
        self.kept.containers += record.weight();
        self.ended.push_back(Arc::new(record));
        self.forget_beyond(MOST_CONTAINERS, MOST_SLOTS);
    }

    /// The last samples of these runs have arrived.
    pub(crate) fn closed(&mut self, runs: &[Run]) {
        for run in runs {
            // The newest are the last ones.
            let from_ms = run.ended_ms - LAST_SAMPLES_MS;
            let newest_first = self.ended.iter_mut().rev();
            let mut recent = newest_first.take_while(|record| record.ended_ms >= Some(from_ms));
            let is_of = |record: &&mut Arc<RecordedApplication>| {
                record.subject.application_id == run.application_id
            };
            if let Some(record) = recent.find(is_of) {
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

    /// Forgets the oldest ended applications, and what was submitted before they ended is not compared. The newest stays.
    fn forget_beyond(&mut self, most_containers: usize, most_slots: usize) {
        while self.ended.len() > 1
            && (self.kept.containers > most_containers || self.kept.slots > most_slots)
            && let Some(oldest) = self.ended.pop_front()
        {
            self.kept.containers -= oldest.weight();
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
