//! Policies: which of the executors that wait goes to a node that has room, and when it fits there.
//!
//! One file each, with its formula in the paper's notation. A policy looks at one node ([`Place`])
//! and one executor ([`Candidate`]) at a time and keeps no state; what several of them need is in
//! [`crate::available`], [`crate::fit`] and [`crate::demand`]. `docs/policies.md` compares them. The
//! policies that exist only to be compared with are in `lab/src/baselines`.

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
pub use elastane::{Elastane, Favor, UnknownFavor};
pub use minfrag::MinFrag;
pub use named::{PolicyOptions, UnknownPolicy, named, names};
pub use prophet::Prophet;
pub use trc::Trc;
pub(crate) use ursa::remaining_of;
pub use ursa::{JobOrder, Ursa, share_of_work, work};

use crate::available::Available;
use crate::by_plan::ByPlan;
use crate::demand::Demand;
use crate::fit::{Excess, Peaks};
use crate::node::Node;
use crate::resources::Resources;

/// What a policy decides by.
pub trait Policy: Send + Sync {
    /// The name that configuration and reports use.
    fn name(&self) -> &'static str;

    /// Whether the executor may go to this node now.
    ///
    /// # Errors
    /// What lacks, by how much, and from when on.
    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess>;

    /// How good it would be to place the executor here now: the smallest wins. Asked only where it
    /// fits; always a number.
    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64;

    /// Whether [`Place::available`] is looked at; where it is not, it may be that of a node on which
    /// nothing runs.
    fn looks_ahead(&self) -> bool {
        true
    }

    /// What [`Place::rates`] is for a node where nobody measured it; none where it is not looked at.
    fn rates(&self, _node: &Node, _now_ms: i64) -> Option<Rates> {
        None
    }

    /// Whether its answer for a node may change although neither the running nor the waiting executors
    /// change. New measurements alone do not count as a change.
    fn depends_on_time(&self) -> bool {
        true
    }

    /// Upper bound of the requests booked on a node where this policy fits a container, as a multiple of the
    /// node's size; none where there is no bound.
    fn most_booked(&self) -> Option<f64> {
        None
    }

    /// Whether peaks may coincide, where it fits by demand over time.
    fn peaks(&self) -> Peaks {
        self.by_plan().map_or(Peaks::Strict, |by| by.peaks)
    }

    /// Whether people read the score the other way round, the largest as the best; [`Policy::score`]
    /// is its negative then.
    fn highest_wins(&self) -> bool {
        false
    }

    /// Set where fit and score are by the node's plan, which a round computes without asking for each
    /// application; the answers are the same as those of [`Policy::fits`] and [`Policy::score`].
    fn by_plan(&self) -> Option<ByPlan> {
        None
    }

    /// What the score was made from, for a person.
    fn detail(&self, _place: &Place<'_>, _candidate: &Candidate<'_>) -> Detail {
        Detail::default()
    }

    /// Whether [`Waiting::whole`] has to be known, and [`Policy::turns`] asked.
    fn needs_gangs(&self) -> bool {
        false
    }

    /// Whether [`Waiting::remaining_share`] has to be known.
    fn needs_remaining_shares(&self) -> bool {
        false
    }

    /// Whose turn it is, one answer for each that waits: by default everybody's.
    fn turns(&self, waiting: &[Waiting], _now_ms: i64) -> Vec<Turn> {
        vec![Turn::Usual; waiting.len()]
    }
}

/// A node as a policy sees it.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Its physical size and what runs on it.
    pub node: &'a Node,
    /// What that leaves over time.
    pub available: &'a Available,
    /// The sum of the requests of what runs; network and disk are not asked for.
    pub booked: Resources,
    /// Unix time in milliseconds.
    pub now_ms: i64,
    /// What Ursa knows of a node, where it was measured.
    pub rates: Option<&'a Rates>,
}

/// Work that is assigned to a node, and how fast it gets it done (Ursa, section 4.2.2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// EPT, the time that one round of placement looks ahead, in seconds.
    pub expected_processing_s: f64,
    /// Measured speed: cores, bytes per second of network and of disk; memory is not worked off.
    pub per_s: Resources,
    /// Work assigned and not yet done: core-seconds and bytes.
    pub assigned: Resources,
}

/// The next executor of an application, as it would be on the node that is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// What it will use from its start on; its request for life where nothing is known.
    pub demand: &'a Demand,
    /// The same with the safety margin on top, which is for the fit; scores know no margin.
    pub needed: &'a Demand,
    /// What it asks for; network and disk are not asked for.
    pub request: Resources,
    /// What is known of its application.
    pub waiting: Waiting,
}

/// An application that waits for executors.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Waiting {
    /// When the application came.
    pub submitted_ms: i64,
    /// Since when it waits for its next executor.
    pub queued_ms: i64,
    /// How many executors it waits for.
    pub executors: u32,
    /// How many of its executors run.
    pub running: u32,
    /// What those that run asked for over the cluster's size, of the resource where that is most.
    pub dominant_share: f64,
    /// Whether all that it waits for would find room by request at once; not looked at unless
    /// [`Policy::needs_gangs`].
    pub whole: bool,
    /// What is left of the application's work over what is left of all applications', resource by
    /// resource: 0 to 1. None where it has no end or nobody has added it up, see
    /// [`Policy::needs_remaining_shares`].
    pub remaining_share: Option<Resources>,
}

/// Whether an application is looked at now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Before all others.
    First,
    /// In the order of the scores.
    Usual,
    /// Not now.
    NotNow,
}
