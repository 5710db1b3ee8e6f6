//! The best few of each queue among the applications that may go to a node.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::application::ApplicationId;
use super::waiting::{Line, Row};
use crate::policy::Turn;
use crate::windows::WindowSet;

/// Scores are told apart in so many steps from 0 to 1. Of equal ones the application that came first
/// goes first, as CapacityScheduler has it, so that an application gets all its executors before the
/// next one gets its first.
const STEPS_OF_SCORE: f64 = 1e9;

/// The order in which applications are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    priority: Reverse<i32>,
    does_not_starve: bool,
    turn: Turn,
    score: i64,
    pub(super) application: ApplicationId,
}

impl Rank {
    pub(super) fn new(line: &Line, starves: bool, turn: Turn, score: f64) -> Self {
        Self {
            priority: Reverse(line.priority),
            does_not_starve: !starves,
            turn,
            score: (score * STEPS_OF_SCORE).round() as i64,
            application: line.application,
        }
    }

    /// Whether it is behind `best` by no more than `close` in score, and by nothing else.
    pub(super) fn is_close_to(&self, best: &Rank, close: f64) -> bool {
        let class = |rank: &Rank| (rank.priority, rank.does_not_starve, rank.turn);
        let close = (close * STEPS_OF_SCORE).round() as i64;
        class(self) == class(best) && self.score.saturating_sub(best.score) <= close
    }

    pub(super) fn starves(&self) -> bool {
        !self.does_not_starve
    }
}

/// An application that may go to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Contender {
    pub(super) rank: Rank,
    pub(super) row: Row,
    pub(super) queue: usize,
    /// The windows in which it may be delayed by what runs beside it.
    pub(super) delayed_in: WindowSet,
    /// The application for which the room is held that it would take.
    pub(super) behind: Option<ApplicationId>,
}

impl Contender {
    /// Whether room on the node goes to this one rather than to the other.
    pub(super) fn goes_before(&self, other: &Contender) -> bool {
        self.queue == other.queue && self.rank < other.rank
    }
}

/// Keeps so many of each queue.
pub(super) struct Contest {
    places: usize,
    /// By queue, the last of them on top.
    best: Vec<BinaryHeap<Contender>>,
}

impl Contest {
    pub(super) fn new(places: usize, queues: usize) -> Self {
        Self {
            places,
            best: vec![BinaryHeap::new(); queues],
        }
    }

    /// Whether no score of `at_least` or more would win a place, among those whose turn is as usual.
    #[inline]
    pub(super) fn is_lost(&self, line: &Line, starves: bool, at_least: f64) -> bool {
        let best = &self.best[line.queue as usize];
        let Some(Contender { rank, .. }) = best.peek().filter(|_| best.len() == self.places) else {
            return false;
        };
        let class = (Reverse(line.priority), !starves);
        match class.cmp(&(rank.priority, rank.does_not_starve)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            // One rounding step of doubt.
            Ordering::Equal => at_least * STEPS_OF_SCORE - 1.0 > rank.score as f64,
        }
    }

    pub(super) fn enter(&mut self, contender: Contender) {
        let best = &mut self.best[contender.queue];
        if best.len() < self.places {
            best.push(contender);
        } else if let Some(mut last) = best.peek_mut()
            && contender < *last
        {
            *last = contender;
        }
    }

    /// Says more of all that have a place.
    pub(super) fn for_each_mut(&mut self, mut say: impl FnMut(&mut Contender)) {
        for best in &mut self.best {
            let mut contenders = std::mem::take(best).into_vec();
            contenders.iter_mut().for_each(&mut say);
            *best = contenders.into();
        }
    }

    /// All that have a place, the best first.
    pub(super) fn in_order(&self) -> Vec<Contender> {
        let mut all: Vec<_> = self.best.iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether a queue may have more contenders than it has places.
    pub(super) fn is_full(&self, queue: usize) -> bool {
        self.best[queue].len() == self.places
    }

    pub(super) fn places(&self) -> usize {
        self.places
    }
}
