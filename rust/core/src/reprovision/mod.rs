//! Corrections of a prediction while its executor runs: of one that is slow, and of what a run does
//! not use.
//!
//! An executor that is slow gets all that its node has left for one window. What it uses then over
//! what was predicted scales the rest of its demand. `docs/reprovisioning.md` has the rules.

mod course;
mod factors;
mod throttling;
mod unused;

use std::sync::Arc;

use crate::ids::{ApplicationId, NodeId};
use crate::resources::{Resource, Resources};

pub(crate) use course::{Course, Finding, mean_between, range_around};
pub(crate) use factors::too_little;

/// How long a slow executor has what its node has left: one sample.
pub const WINDOW_MS: i64 = crate::SLOT_MS as i64;

/// When executors are reprovisioned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReprovisionSettings {
    /// Factor of the expected time above which an executor is slow.
    pub slow_from: f64,
    /// Minimum time between two windows of one executor, in milliseconds.
    pub every_ms: i64,
    /// Minimum amount left for a window, as a part of what the executor is predicted to use of a resource.
    pub least_left: f64,
}

impl Default for ReprovisionSettings {
    /// Elasecutor's ρ; once a minute; a tenth.
    fn default() -> Self {
        Self {
            slow_from: 1.1,
            every_ms: 60_000,
            least_left: 0.1,
        }
    }
}

/// What a container used for a while, as its node's agent measured it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// The mean; of memory the most.
    pub usage: Resources,
    /// When that began, in Unix milliseconds.
    pub from_ms: i64,
    /// When it ended.
    pub to_ms: i64,
    /// The part of that in which its CPU limit held it back, 0 to 1.
    pub throttled: f64,
}

/// Why a container has a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slow {
    /// It is behind: what it took over what it was expected to take so far.
    Behind(f64),
    /// It may look as if it were on time, since its CPU limit lets it use what was predicted.
    Throttled {
        /// The time that it takes over the time that it would take without its limit.
        times: f64,
        /// What it uses meanwhile.
        cpu_cores: f64,
    },
}

impl Slow {
    /// The time taken over the time expected.
    #[must_use]
    pub fn times(self) -> f64 {
        match self {
            Slow::Behind(times) | Slow::Throttled { times, .. } => times,
        }
    }

    /// For the journal.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Slow::Behind(_) => "behind",
            Slow::Throttled { .. } => "throttled",
        }
    }
}

/// Something that was done about a running container.
#[derive(Debug, Clone, PartialEq)]
pub struct Reprovisioned {
    /// When, in Unix milliseconds; of a window that ended with its container or node when it opened.
    pub time_ms: i64,
    /// YARN's container id.
    pub container: Arc<str>,
    /// Whose it is.
    pub application: ApplicationId,
    /// Where it runs.
    pub node: NodeId,
    /// What was done.
    pub what: Correction,
}

/// What was done about a running container.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// It is slow: all that its node has left is its own for a window.
    Opened {
        /// By how much, and how that shows.
        slow: Slow,
        /// What it is predicted to use now.
        predicted: Resources,
        /// What it gets beyond that.
        lent: Resources,
    },
    /// What it was lent is returned, and what is left of its demand scaled.
    Measured {
        /// What it used in the window.
        used: Resources,
        /// What it was predicted to use.
        predicted: Resources,
        /// What is left of its demand, as multiples of what was predicted at first.
        factors: Resources,
    },
    /// What it was lent is returned, and its demand stays as it was.
    Returned {
        /// Why.
        because: NotMeasured,
    },
    /// It is slow, and its node has too little left: its tasks had better run elsewhere.
    Reschedule {
        /// By how much, and how that shows.
        slow: Slow,
        /// What its node has too little of.
        resource: Resource,
        /// What it is predicted to use of that.
        predicted: f64,
        /// What is left of that.
        left: f64,
    },
    /// It keeps using less than was predicted, or does so no longer.
    Unused {
        /// What is left of its demand, as multiples of what was predicted at first.
        factors: Resources,
    },
}

/// Why a window says nothing of the demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMeasured {
    /// The container ended in it.
    Ended,
    /// The node is gone.
    NodeLost,
    /// No sample of it came in time.
    NoSample,
    /// The core no longer decides about the node.
    NotDecided,
    /// It used less than was predicted of all that it needs, with all that was left for its own.
    HeldUp,
}

impl NotMeasured {
    /// For the journal.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            NotMeasured::Ended => "the container ended",
            NotMeasured::NodeLost => "the node is gone",
            NotMeasured::NoSample => "no sample of it came in time",
            NotMeasured::NotDecided => "the core no longer decides about the node",
            NotMeasured::HeldUp => {
                "it used less than predicted with all that was left, so something else holds it up"
            }
        }
    }
}
