//! Applications with a deadline: what is expected of them, and whether they met it.

use std::collections::HashMap;

use elastane_core::cluster::ApplicationId;
use elastane_predict::chance_within;
use elastane_predict::progress::LogNormal;
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

/// A deadline as `status` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct DeadlineStatus {
    at_ms: i64,
    /// The probability that it is met if all executors start now; none without a profile.
    chance: Option<f64>,
}

/// The deadlines of the applications that have one.
#[derive(Debug, Default)]
pub(crate) struct Deadlines {
    of: HashMap<ApplicationId, Deadline>,
}

impl Deadlines {
    /// An application was submitted.
    pub(crate) fn added(
        &mut self,
        application: ApplicationId,
        id: &str,
        deadline: Deadline,
        now_ms: i64,
    ) -> Record {
        self.of.insert(application, deadline);
        let state = DeadlineState::Given;
        record(id, deadline, state, deadline.chance(now_ms), now_ms)
    }

    /// An application ended; none where it had no deadline.
    pub(crate) fn removed(
        &mut self,
        application: ApplicationId,
        id: &str,
        succeeded: bool,
        now_ms: i64,
    ) -> Option<Record> {
        let deadline = self.of.remove(&application)?;
        let state = match succeeded && now_ms <= deadline.at_ms {
            true => DeadlineState::Met,
            false => DeadlineState::Missed,
        };
        Some(record(id, deadline, state, None, now_ms))
    }

    pub(crate) fn status(&self, application: ApplicationId, now_ms: i64) -> Option<DeadlineStatus> {
        let deadline = self.of.get(&application)?;
        Some(DeadlineStatus { at_ms: deadline.at_ms, chance: deadline.chance(now_ms) })
    }
}

impl Deadline {
    fn chance(&self, now_ms: i64) -> Option<f64> {
        let left_ms = self.at_ms.saturating_sub(now_ms);
        self.length_ms.map(|length_ms| chance_within(&length_ms, left_ms))
    }
}

fn record(
    id: &str,
    deadline: Deadline,
    state: DeadlineState,
    chance: Option<f64>,
    now_ms: i64,
) -> Record {
    let application = id.to_owned();
    let news = DeadlineNews { application, deadline_ms: deadline.at_ms, state, chance };
    Record { time_ms: now_ms, event: JournalEvent::Deadline(news) }
}
