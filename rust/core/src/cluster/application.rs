//! An application: what it waits for and what is known about its executors.

use std::sync::Arc;

use super::elsewhere::Better;
use super::kept::KeptNode;
use super::node_entry::{NodeId, Request};
use super::waiting::Row;
use crate::container_kind::ContainerKind;
use crate::demand::Demand;
use crate::fit::Excess;
use crate::policy::Waiting;
use crate::resources::{Resource, Resources};

/// An application's number; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApplicationId(pub u32);

/// A demand that was predicted from earlier runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// What the executor is expected to use.
    pub demand: Demand,
    /// The safety margin of the fit, as a fraction of the demand.
    pub margin: f64,
    /// The profile it comes from.
    pub profile: Arc<str>,
}

/// A demand that is a thousand times larger is capped at any node's size.
const LARGEST_MARGIN: f64 = 1e3;

/// What is known about an application's containers; none of a kind means its request is taken.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Demands {
    /// In the order of kinds. Most applications have two, and a map has room for a dozen.
    known: Vec<(ContainerKind, Predicted)>,
}

impl Predicted {
    pub(super) fn on_grid(self) -> Self {
        Self {
            demand: self.demand.on_grid(),
            margin: if self.margin.is_nan() {
                0.0
            } else {
                self.margin.clamp(0.0, LARGEST_MARGIN)
            },
            ..self
        }
    }
}

impl Demands {
    /// On the grid of the plan, with margins that are at least 0 and a number.
    pub(super) fn on_grid(self) -> Self {
        let on_grid = |(kind, predicted): (_, Predicted)| (kind, predicted.on_grid());
        self.known.into_iter().map(on_grid).collect()
    }

    /// Takes what is known of a kind now, and says whether that is something else.
    pub(super) fn set(&mut self, kind: ContainerKind, predicted: Option<Predicted>) -> bool {
        let place = self.place(kind);
        match (place, predicted) {
            (Ok(place), Some(now)) if self.known[place].1 == now => return false,
            (Ok(place), Some(now)) => self.known[place].1 = now,
            (Ok(place), None) => {
                self.known.remove(place);
            }
            (Err(place), Some(now)) => self.known.insert(place, (kind, now)),
            (Err(_), None) => return false,
        }
        true
    }

    /// What is known of the containers of a kind.
    #[must_use]
    pub fn of(&self, kind: ContainerKind) -> Option<&Predicted> {
        let place = self.place(kind).ok()?;
        Some(&self.known[place].1)
    }

    /// Whether somebody else has a series of these.
    #[must_use]
    pub fn are_shared(&self) -> bool {
        let mut known = self.known.iter();
        known.any(|(_, predicted)| predicted.demand.is_shared())
    }

    /// Where a kind is, or belongs.
    fn place(&self, kind: ContainerKind) -> Result<usize, usize> {
        self.known.binary_search_by_key(&kind, |(known, _)| *known)
    }
}

impl FromIterator<(ContainerKind, Predicted)> for Demands {
    fn from_iter<T: IntoIterator<Item = (ContainerKind, Predicted)>>(known: T) -> Self {
        let mut demands = Self::default();
        for (kind, predicted) in known {
            demands.set(kind, Some(predicted));
        }
        demands.known.shrink_to_fit();
        demands
    }
}

/// What an application waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ask {
    /// What the next container is for.
    pub kind: ContainerKind,
    /// YARN's application priority; the higher goes first.
    pub priority: i32,
    /// What the next container asks for.
    pub request: Request,
    /// How many containers it waits for in all.
    pub count: u32,
}

/// Why an application's next container was not placed when it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    /// It did not fit.
    NoFit {
        /// Where it was looked at.
        node: NodeId,
        /// What lacked first.
        resource: Resource,
        /// By how much it does not fit there as things are now; none when it would fit now, or the
        /// node is gone.
        excess: Option<Excess>,
    },
    /// It fits, and waits for the heartbeat of a node that delays it less.
    Passed {
        /// Where it was looked at.
        node: NodeId,
        /// The node it waits for.
        better: NodeId,
        /// By how much sooner its work is done there, in milliseconds.
        gain_ms: i64,
    },
    /// It fits, and would take room there that is held for an application that goes first.
    Behind {
        /// Where it was looked at.
        node: NodeId,
        /// For whom the room is held.
        behind: ApplicationId,
    },
    /// The node where it was looked at is kept for another application.
    Kept(KeptNode),
    /// It starves, and a node is kept for it.
    Keeps(KeptNode),
}

/// One application.
#[derive(Debug, Clone)]
pub struct Application {
    /// YARN's id.
    pub id: String,
    /// The submitter's name for it.
    pub name: String,
    /// The leaf queue.
    pub queue: String,
    /// What is known about its containers.
    pub demands: Demands,
    /// When it came.
    pub submitted_ms: i64,
    /// How many of its containers run.
    pub running: u32,
    /// The sum of what those that run asked for.
    pub allocated: Request,
    /// What it waits for; none when nothing.
    pub waiting: Option<Ask>,
    /// Since when it waits for its next container.
    pub waiting_since_ms: i64,
    /// Its place among those that wait; none when it waits for nothing.
    pub(super) row: Option<Row>,
    /// See [`Waiting::remaining_share`]; as it was when that was last asked for.
    pub(super) remaining_share: Option<Resources>,
    /// The node that it passed the last one for, and by how much sooner its work is done there.
    pub(super) passed_for: Option<Better>,
    /// Since when it passes on nodes; none when it does not.
    pub(super) passing_since_ms: Option<i64>,
    /// When it may pass on a node again after it did so in vain.
    pub(super) may_pass_from_ms: i64,
}

impl Application {
    /// An application that waits for nothing yet.
    #[must_use]
    pub fn new(id: &str, name: &str, queue: &str, demands: Demands, submitted_ms: i64) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            queue: queue.to_owned(),
            demands,
            submitted_ms,
            running: 0,
            allocated: Request::default(),
            waiting: None,
            waiting_since_ms: submitted_ms,
            row: None,
            remaining_share: None,
            passed_for: None,
            passing_since_ms: None,
            may_pass_from_ms: i64::MIN,
        }
    }

    /// How long it has waited for its next container.
    pub(super) fn waited_ms(&self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.waiting_since_ms)
    }

    /// Whether more of its containers run than its ApplicationMaster, so that it does not stand still
    /// while it waits.
    pub(super) fn gets_on(&self) -> bool {
        self.running > 1
    }

    pub(super) fn ask(&mut self, ask: Ask, now_ms: i64) {
        if ask.count == 0 {
            self.waiting = None;
            return;
        }
        if self.waiting.is_none() {
            self.waiting_since_ms = now_ms;
        }
        self.waiting = Some(ask);
    }

    /// For a policy, in a cluster of this size.
    pub(super) fn as_waiting(&self, registered: Request) -> Waiting {
        let share = |allocated: f64, registered: f64| {
            if registered > 0.0 {
                allocated / registered
            } else {
                0.0
            }
        };
        Waiting {
            submitted_ms: self.submitted_ms,
            queued_ms: self.waiting_since_ms,
            executors: self.waiting.map_or(0, |ask| ask.count),
            running: self.running,
            dominant_share: f64::max(
                share(
                    self.allocated.memory_bytes as f64,
                    registered.memory_bytes as f64,
                ),
                share(
                    f64::from(self.allocated.vcores),
                    f64::from(registered.vcores),
                ),
            ),
            whole: false,
            remaining_share: self.remaining_share,
        }
    }

    pub(super) fn started(&mut self, request: Request) {
        self.running += 1;
        self.allocated = self.allocated.plus(request);
    }

    pub(super) fn ended(&mut self, request: Request) {
        self.running = self.running.saturating_sub(1);
        self.allocated = self.allocated.minus(request);
    }

    pub(super) fn granted(&mut self, now_ms: i64) {
        self.waiting_since_ms = now_ms;
        self.passing_since_ms = None;
    }
}
