//! Applications with a deadline: what is expected of them, and whether they met it.

use std::collections::HashMap;

use elastane_core::Cluster;
use elastane_core::cluster::{Application, ApplicationId, PlannedStart};
use elastane_predict::progress::LogNormal;
use elastane_predict::{Submission, chance_within, deadline_ms};
use serde::Serialize;

use crate::journal::{DeadlineNews, DeadlineState, JournalEvent, Record};

/// A deadline, and what is known of the application's length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deadline {
    /// In Unix milliseconds.
    pub at_ms: i64,
    /// The length of an executor in milliseconds, by the application's earlier runs.
    pub length_ms: Option<LogNormal>,
}

impl Deadline {
    /// The deadline of a submission, if it has one; `length_ms` is asked only then. A tag that cannot be read is
    /// logged.
    pub(crate) fn of(
        submission: &Submission,
        length_ms: impl FnOnce() -> Option<LogNormal>,
        now_ms: i64,
    ) -> Option<Self> {
        let submitted_ms = now_ms.saturating_sub(submission.age_ms);
        let (at_ms, bad) = deadline_ms(&submission.tags, submitted_ms);
        for bad in bad {
            log::warn!("{}: {bad}", submission.id);
        }
        Some(Self { at_ms: at_ms?, length_ms: length_ms() })
    }

    /// The probability that it is met by executors that start at this time.
    fn chance(&self, start_ms: i64) -> Option<f64> {
        let left_ms = self.at_ms.saturating_sub(start_ms);
        self.length_ms.map(|length_ms| chance_within(&length_ms, left_ms))
    }
}

/// A deadline as `status` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct DeadlineStatus {
    at_ms: i64,
    /// The probability that it is met if its executors start when the plan says, or now if they are not planned;
    /// none without a profile.
    chance: Option<f64>,
}

/// The deadlines of the applications that have one.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    of: HashMap<ApplicationId, Entry>,
}

#[derive(Debug)]
struct Entry {
    deadline: Deadline,
    /// Whether a plan had its start.
    is_planned: bool,
}

impl Deadlines {
    /// An application was submitted. Of one that is not new, the journal has the news from an earlier process.
    pub(crate) fn added(
        &mut self,
        application: ApplicationId,
        (id, queue): (&str, &str),
        deadline: Deadline,
        is_new: bool,
        now_ms: i64,
    ) -> Record {
        self.of.insert(application, Entry { deadline, is_planned: !is_new });
        let state = DeadlineState::Given;
        record((id, queue), deadline, state, deadline.chance(now_ms), now_ms)
    }

    /// A new plan of starts counts: the news of applications whose executors no plan had before.
    pub(crate) fn planned(&mut self, cluster: &Cluster, now_ms: i64) -> Vec<Record> {
        let new = self.of.iter_mut().filter(|(_, entry)| !entry.is_planned);
        let planned = new.filter_map(|(id, entry)| {
            let start_ms = last_start_ms(cluster, *id)?;
            let application = cluster.application(*id)?;
            entry.is_planned = true;
            let chance = entry.deadline.chance(start_ms);
            let state = DeadlineState::Planned;
            let named = (&*application.id, &*application.queue);
            Some((*id, record(named, entry.deadline, state, chance, now_ms)))
        });
        let mut planned: Vec<_> = planned.collect();
        planned.sort_unstable_by_key(|(id, _)| *id);
        planned.into_iter().map(|(_, record)| record).collect()
    }

    /// An application ended; none where it had no deadline.
    pub(crate) fn removed(
        &mut self,
        application: ApplicationId,
        ended: &Application,
        succeeded: bool,
        now_ms: i64,
    ) -> Option<Record> {
        let Entry { deadline, .. } = self.of.remove(&application)?;
        let state = match succeeded && now_ms <= deadline.at_ms {
            true => DeadlineState::Met,
            false => DeadlineState::Missed,
        };
        Some(record((&ended.id, &ended.queue), deadline, state, None, now_ms))
    }

    pub(crate) fn status(
        &self,
        cluster: &Cluster,
        application: ApplicationId,
        now_ms: i64,
    ) -> Option<DeadlineStatus> {
        let Entry { deadline, .. } = self.of.get(&application)?;
        let start_ms = last_start_ms(cluster, application).map_or(now_ms, |it| it.max(now_ms));
        Some(DeadlineStatus { at_ms: deadline.at_ms, chance: deadline.chance(start_ms) })
    }
}

/// When the last planned executor of an application starts; none before it asks for executors.
fn last_start_ms(cluster: &Cluster, application: ApplicationId) -> Option<i64> {
    let ask = cluster.application(application)?.waiting?;
    let start = PlannedStart::of(cluster, application)?;
    (!ask.kind.is_application_master()).then_some(start.last_ms)
}

fn record(
    (id, queue): (&str, &str),
    deadline: Deadline,
    state: DeadlineState,
    chance: Option<f64>,
    now_ms: i64,
) -> Record {
    let application = id.to_owned();
    let news = DeadlineNews { application, deadline_ms: deadline.at_ms, state, chance };
    let queue = Some(queue.to_owned());
    Record { time_ms: now_ms, queue, event: JournalEvent::Deadline(news) }
}
