//! What waits in one leaf queue.

use super::Waits;
use crate::cluster::bookable::Booked;

/// An application that could start now by all that is known, and has waited for this long, is held up by something
/// unknown, such as a placement constraint. It has no expected start, and takes nothing.
const HELD_UP_AFTER_MS: i64 = 10_000;

pub(super) fn is_held_up(has_waited_ms: i64) -> bool {
    has_waited_ms >= HELD_UP_AFTER_MS
}

/// What waits in a leaf queue.
#[derive(Debug, Clone, Default)]
pub(super) struct Queue {
    /// The places of those that wait, in order.
    waiting: Vec<usize>,
    /// The places of those that wait for an application master of the queue to end, in order.
    held: Vec<usize>,
    /// How many of these may start, and how many of them since an end that is not predicted.
    pub(super) masters: u32,
    pub(super) rough_masters: u32,
    /// The least of each resource that anybody waits for, by the number of the label that is asked for.
    pub(super) asks: Vec<(Option<usize>, Booked)>,
    /// Whether somebody has begun to wait only now.
    pub(super) is_young: bool,
}

impl Queue {
    pub(super) fn add(&mut self, place: usize, waits: &Waits, now_ms: i64) {
        let places = if waits.is_held { &mut self.held } else { &mut self.waiting };
        places.push(place);
        let booked = waits.load.booked;
        match self.asks.iter_mut().find(|(label, _)| *label == waits.label) {
            Some((_, least)) => *least = least.min(booked),
            None => self.asks.push((waits.label, booked)),
        }
        self.is_young |= !is_held_up(now_ms.saturating_sub(waits.since_ms));
    }

    /// Those that may start now, in order; an application master that was held is small and goes first.
    pub(super) fn startable(&self) -> impl Iterator<Item = usize> {
        let held = if self.masters > 0 { &*self.held } else { &[] };
        held.iter().chain(&self.waiting).copied()
    }

    /// Those that have more to start, in order, and before them those that are held.
    pub(super) fn left(&self) -> impl Iterator<Item = usize> {
        self.held.iter().chain(&self.waiting).copied()
    }

    pub(super) fn remove(&mut self, place: usize, is_held: bool) {
        let places = if is_held { &mut self.held } else { &mut self.waiting };
        // They were added in the order of their places.
        if let Ok(at) = places.binary_search(&place) {
            places.remove(at);
        }
    }
}
