//! Executors of one application that were asked for together and are alike.

use elastane_core::cluster::Request;
use elastane_core::{Demand, SLOT_MS};
use elastane_runtime::{PastApplication, PastContainer};

use crate::workload::{ApplicationSpec, Errors, stretched};

/// The length of a slot in milliseconds.
pub(super) const SLOT: f64 = SLOT_MS as f64;

/// One group.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    pub(super) application: &'a PastApplication,
    pub(super) containers: Vec<&'a PastContainer>,
    /// When they were asked for, as if the master had started at once; in milliseconds of the replay, below 0 before the
    /// record.
    pub(super) arrival_ms: i64,
    /// From the end of the last executor's work to the end of the group's part in its application.
    pub(super) delay_ms: i64,
    /// Of the nodes that it may go to; empty for those without a label and with one that is not exclusive.
    pub(super) label: &'a str,
    /// The place of its queue among those of the label.
    pub(super) queue: usize,
    pub(super) request: Request,
    pub(super) actual: Demand,
    pub(super) predicted: Option<Demand>,
    /// In which its master alone runs.
    pub(super) slots_before: usize,
    pub(super) lives: Vec<Life>,
}

/// What one executor did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Life {
    /// Slots of work, as recorded.
    pub(super) slots: f64,
    /// It ran until its application ended: the work was its application's, not its own.
    pub(super) shares_work: bool,
}

impl Group<'_> {
    /// When each executor that shares its application's work begins to work, in slots of the replay, if all start at
    /// these times, in seconds.
    pub(super) fn shared_starts(&self, starts_s: &[f64]) -> Vec<f64> {
        let lives = self.lives.iter().zip(starts_s);
        let shared = lives.filter(|(life, _)| life.shares_work);
        shared.map(|(_, start_s)| self.begins_work(*start_s)).collect()
    }

    /// The work that its executors share with those of their application's other groups, in slots.
    pub(super) fn shared_work(&self) -> f64 {
        let shared = self.lives.iter().filter(|life| life.shares_work);
        shared.map(|life| life.slots).sum()
    }

    fn begins_work(&self, start_s: f64) -> f64 {
        start_s * 1e3 / SLOT + self.slots_before as f64
    }

    /// How many slots each executor takes, if all start at these times and the application's work is done at `end`, in
    /// slots of the replay; as recorded without them.
    fn lengths(&self, starts_s: &[f64], end: Option<f64>) -> Vec<usize> {
        let lives = self.lives.iter().enumerate();
        let slots = lives.map(|(number, life)| {
            let worked = match (end, starts_s.get(number)) {
                (Some(end), Some(start_s)) if life.shares_work => end - self.begins_work(*start_s),
                _ => life.slots,
            };
            stretched(1, self.slots_before as f64 + worked.max(1.0))
        });
        slots.collect()
    }

    /// See [`Self::lengths`].
    pub(super) fn spec(&self, starts_s: &[f64], end: Option<f64>) -> ApplicationSpec {
        ApplicationSpec {
            name: self.application.subject.application_id.clone(),
            queue: self.queue,
            user: self.application.subject.user.clone(),
            submitted_ms: self.arrival_ms.max(0),
            deadline_ms: None,
            executors: self.containers.len() as u32,
            request: self.request,
            predicted: self.predicted.clone(),
            actual: self.actual.clone(),
            lengths: Some(self.lengths(starts_s, end).into()),
            errors: Errors::default(),
        }
    }
}
