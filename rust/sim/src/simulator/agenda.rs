//! Events in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A moment in milliseconds from the start; fractional, since progress is continuous.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Moment(pub(super) f64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// An event. Events of one moment occur in this order, so that ends and arrivals precede the heartbeat
/// that may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// An executor on a machine may end.
    Work { machine: usize },
    /// An application is submitted.
    Submission { application: usize },
    /// An application whose master runs asks for its executors.
    Arrival { application: usize },
    /// The master of an application ends.
    MasterEnd { application: usize },
    /// An application asks for more of its executors.
    Backlog { application: usize },
    /// An executor that was released because it was idle has work again.
    Resumed { application: usize, piece: Piece },
    /// An application starves: the next heartbeat updates the kept node.
    Keeping,
    /// Bookable capacity follows demand, and the starts of what waits are planned anew.
    Second,
    /// Nodes whose heartbeats are now are looked at for a kind that waits.
    Waits { kind: usize },
    /// A node asks for work.
    Heartbeat { machine: usize },
}

/// An executor that waits for a container, or the rest of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Piece {
    /// Its number within the application.
    pub(super) number: u32,
    /// The slot it begins with.
    pub(super) slot: usize,
}

/// Events in their order.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(Moment, Event)>>,
}

impl Agenda {
    pub(super) fn add(&mut self, at_ms: f64, event: Event) {
        self.events.push(Reverse((Moment(at_ms), event)));
    }

    pub(super) fn next(&mut self) -> Option<(f64, Event)> {
        let Reverse((at, event)) = self.events.pop()?;
        Some((at.0, event))
    }
}
