//! Corrections of a prediction while its executor runs: raised for a slow executor, lowered for
//! demand that stays unused.
//!
//! A slow executor gets all remaining resources of its node for one window (Elasecutor's
//! reprovisioning). Its use in the window over the predicted one scales the rest of its demand.
//! `docs/reprovisioning.md` has the rules.

mod course;
mod factors;
mod throttling;
mod unused;

use std::sync::Arc;

use crate::ids::{ApplicationId, NodeId};
use crate::resources::{Resource, Resources};

pub(crate) use course::{Course, mean_between, range_around};
pub(crate) use factors::too_little;

/// Length of a window: one sample.
pub const WINDOW_MS: i64 = crate::SLOT_MS as i64;

/// When executors are reprovisioned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReprovisionSettings {
    /// Factor of the expected time above which an executor is slow.
    pub slow_from: f64,
    /// Minimum time between two windows of one executor, in milliseconds.
    pub every_ms: i64,
    /// Minimum remaining amount for a window, as a part of the executor's predicted use of a resource.
    pub least_left: f64,
}

impl Default for ReprovisionSettings {
    /// Elasecutor's ρ of 1.1; one minute; a tenth.
    fn default() -> Self {
        Self { slow_from: 1.1, every_ms: 60_000, least_left: 0.1 }
    }
}

/// A sample: a container's use over a period, as measured by its node's agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Used {
    /// Mean use; of memory the peak.
    pub usage: Resources,
    /// Start of the period, in Unix milliseconds.
    pub from_ms: i64,
    /// End of the period, in Unix milliseconds.
    pub to_ms: i64,
    /// The part of the period in which the CPU limit throttled the container, 0 to 1.
    pub throttled: f64,
}

/// How a container is slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slow {
    /// Behind: time taken over time expected so far.
    Behind(f64),
    /// Throttled by its CPU limit. Its progress may look on time, since the limit allows the predicted use.
    Throttled {
        /// Time taken over the time without the limit.
        times: f64,
        /// CPU use while throttled.
        cpu_cores: f64,
    },
}

impl Slow {
    /// The time taken over the time expected.
    pub fn times(self) -> f64 {
        match self {
            Slow::Behind(times) | Slow::Throttled { times, .. } => times,
        }
    }

    /// The journal's words.
    pub fn words(self) -> &'static str {
        match self {
            Slow::Behind(_) => "behind",
            Slow::Throttled { .. } => "throttled",
        }
    }
}

/// A correction of a running container.
#[derive(Debug, Clone, PartialEq)]
pub struct Reprovisioned {
    /// Time in Unix milliseconds. For a window that ended with its container or node, the time at
    /// which the window opened.
    pub time_ms: i64,
    /// YARN's container id.
    pub container: Arc<str>,
    /// Its application.
    pub application: ApplicationId,
    /// Its node.
    pub node: NodeId,
    /// The correction.
    pub what: Correction,
}

/// The kinds of corrections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// The container is slow: it is lent all remaining resources of its node for a window.
    Opened {
        /// How slow it is, and by which measure.
        slow: Slow,
        /// Its predicted use now.
        predicted: Resources,
        /// The loan on top of that.
        lent: Resources,
    },
    /// The loan is returned, and the rest of the demand is scaled.
    Measured {
        /// Its use in the window.
        used: Resources,
        /// Its predicted use in the window.
        predicted: Resources,
        /// The rest of its demand over the predicted one.
        factors: Resources,
    },
    /// The loan is returned, and the demand stays.
    Returned {
        /// Why.
        because: NotMeasured,
    },
    /// The container is slow, and its node has too little left: its tasks should run elsewhere.
    Reschedule {
        /// How slow it is, and by which measure.
        slow: Slow,
        /// The resource of which too little is left.
        resource: Resource,
        /// Predicted use of that resource.
        predicted: f64,
        /// Remaining amount of that resource.
        left: f64,
    },
    /// The container keeps using less than predicted, or no longer does.
    Unused {
        /// The rest of its demand over the predicted one.
        factors: Resources,
    },
}

/// Why a window did not change the demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMeasured {
    /// The container ended in the window.
    Ended,
    /// The node was removed.
    NodeLost,
    /// No sample of the window arrived in time.
    NoSample,
    /// The core no longer decides about the node.
    NotDecided,
    /// It used less than predicted of every resource that it needs, although all remaining
    /// resources were its own: something else holds it up.
    HeldUp,
}

impl NotMeasured {
    /// The journal's words.
    pub fn words(self) -> &'static str {
        match self {
            NotMeasured::Ended => "the container ended",
            NotMeasured::NodeLost => "the node is gone",
            NotMeasured::NoSample => "no measurement of the container arrived in time",
            NotMeasured::NotDecided => "the core no longer decides about the node",
            NotMeasured::HeldUp => {
                "lent all that the node had left, it used less than predicted: something other \
                 than resources holds it up"
            }
        }
    }
}
