//! Policies: which waiting executor goes to a node, and whether it fits there.
//!
//! One file each, with the formula in the paper's notation. A policy sees one node ([`Place`]) and
//! one executor ([`Candidate`]) at a time and keeps no state. Shared parts are in
//! [`crate::available`], [`crate::fit`] and [`crate::demand`]. `docs/policies.md` compares the
//! policies; those that exist only for comparisons are in `lab/src/baselines`.

mod bounded;
pub mod by_request;
mod detail;
mod elastane;
mod minfrag;
mod named;
mod on_plan;
mod prophet;
mod trc;
mod ursa;

pub use bounded::bounded;
pub use detail::Detail;
pub use elastane::{ElastanePolicy, Favor, UnknownFavor};
pub use minfrag::MinFrag;
pub use named::{PolicyOptions, UnknownPolicy, named, names};
pub use prophet::Prophet;
pub use trc::Trc;
pub use ursa::{JobOrder, Ursa, remaining_of, share_of_work, work};

use crate::available::Available;
use crate::by_plan::ByPlan;
use crate::demand::Demand;
use crate::fit::{Excess, Peaks};
use crate::node::Node;
use crate::resources::Resources;

/// A placement policy.
pub trait Policy: Send + Sync {
    /// The name in configuration and reports.
    fn name(&self) -> &'static str;

    /// Whether the executor may go to this node now.
    ///
    /// The first excess.
    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess>;

    /// The score of placing the executor here now; the smallest wins. Called only where the
    /// executor fits; never NaN.
    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64;

    /// Whether the policy reads [`Place::available`]. If not, [`Place::available`] may be that of an idle node.
    fn looks_ahead(&self) -> bool {
        true
    }

    /// The [`Place::rates`] of a node without measured ones; none where the policy reads none.
    fn rates(&self, _node: &Node, _now_ms: i64) -> Option<Rates> {
        None
    }

    /// Upper bound of the requests booked on a node where this policy fits a container, as a
    /// multiple of the node's size; none without a bound.
    fn most_booked(&self) -> Option<f64> {
        None
    }

    /// Whether peaks may coincide in a fit by demand over time.
    fn peaks(&self) -> Peaks {
        self.by_plan().map_or(Peaks::Strict, |by| by.peaks)
    }

    /// Whether people read the largest score as the best. [`Policy::score`] is its negative then.
    fn highest_wins(&self) -> bool {
        false
    }

    /// Fit and score by the node's plan, which a round computes without calling the policy for each
    /// application. They equal [`Policy::fits`] and [`Policy::score`].
    fn by_plan(&self) -> Option<ByPlan> {
        None
    }

    /// The parts of the score, for people.
    fn detail(&self, _place: &Place<'_>, _candidate: &Candidate<'_>) -> Detail {
        Detail::default()
    }

    /// Whether the policy reads [`Waiting::whole`] and overrides [`Policy::turns`].
    fn needs_gangs(&self) -> bool {
        false
    }

    /// Whether the policy reads [`Waiting::remaining_share`].
    fn needs_remaining_shares(&self) -> bool {
        false
    }

    /// The turn of each waiting application; by default everybody's turn is usual.
    fn turns(&self, waiting: &[Waiting], _now_ms: i64) -> Vec<Turn> {
        vec![Turn::Usual; waiting.len()]
    }
}

/// A node as a policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Physical size and running executors.
    pub node: &'a Node,
    /// Available resources over time.
    pub available: &'a Available,
    /// Sum of the running containers' requests; network and disk are 0.
    pub booked: Resources,
    /// Unix time in milliseconds.
    pub now_ms: i64,
    /// Measured rates for Ursa, if any.
    pub rates: Option<&'a Rates>,
}

/// Work assigned to a node, and the node's speed (Ursa, section 4.2.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// EPT, the time that one placement round looks ahead, in seconds.
    pub expected_processing_s: f64,
    /// Measured speed: cores, and bytes per second of network and disk; memory has none.
    pub per_s: Resources,
    /// Work assigned and not yet done: core-seconds and bytes.
    pub assigned: Resources,
}

/// The next executor of an application, as it would run on the node.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Demand from its start on; the request for life without a prediction.
    pub demand: &'a Demand,
    /// The demand with its safety margin, for the fit; scores use no margin.
    pub needed: &'a Demand,
    /// Its request; network and disk are 0.
    pub request: Resources,
    /// Its application.
    pub waiting: Waiting,
}

/// An application that waits for executors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Waiting {
    /// When the application was submitted.
    pub submitted_ms: i64,
    /// Start of the wait for its next executor.
    pub queued_ms: i64,
    /// Number of executors that it waits for.
    pub executors: u32,
    /// Number of its running executors.
    pub running: u32,
    /// The running executors' requests over the cluster's size, of the dominant resource.
    pub dominant_share: f64,
    /// Whether all executors that it waits for find room by request at once; read only with
    /// [`Policy::needs_gangs`].
    pub whole: bool,
    /// The application's remaining work over that of all applications, for each resource: 0 to 1.
    /// None if it has no end, or without [`Policy::needs_remaining_shares`].
    pub remaining_share: Option<Resources>,
}

/// When an application may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Before all others.
    First,
    /// By score.
    Usual,
    /// Not now.
    NotNow,
}

#[cfg(test)]
mod tests;
