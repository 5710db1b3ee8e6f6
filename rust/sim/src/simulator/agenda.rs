//! What happens when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A moment, in milliseconds from the start. Progress is fluid, so it has parts of them.
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

/// What happens. At one moment they happen in this order: what ended and came is there when a node
/// asks for work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// An executor on a machine may end.
    Work { machine: usize },
    /// An application comes.
    Arrival { application: usize },
    /// Executors that were not asked for yet are.
    Backlog { application: usize },
    /// An executor that was released because it was idle has work again.
    Resumed { application: usize, piece: Piece },
    /// An application may have waited too long.
    Starvation,
    /// Nodes whose heartbeats are now are looked at for a kind that waits.
    Waits { kind: usize },
    /// A node asks for work.
    Heartbeat { machine: usize },
}

/// An executor that waits for a container, or what is left of its work.
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
