//! The best contenders of each queue.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::Scores;
use crate::cluster::state::ApplicationId;
use crate::cluster::waiting::{Line, Row};
use crate::need::Need;
use crate::policy::Turn;

/// Resolution of scores: steps from 0 to 1. Of equal scores the application submitted first goes first, as in
/// CapacityScheduler: one application gets all its executors before the next one gets any.
const STEPS_OF_SCORE: f64 = 1e9;

/// What goes before the policy's score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// It starves, or its queue is owed its guarantee: it goes whether it fits or not.
    Starves,
    /// It would miss its deadline. The one that has to start first goes first.
    Due {
        latest_start_ms: i64,
    },
    Usual,
    /// It does not fit, and its queue is owed the flow that it lacks: it goes behind those that fit.
    OwedFlow,
}

/// Sort key of the applications that a round lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    priority: Reverse<i32>,
    urgency: Urgency,
    turn: Turn,
    score: i64,
    pub(crate) application: ApplicationId,
}

impl Rank {
    pub(crate) fn new(line: &Line, urgency: Urgency, turn: Turn, score: f64) -> Self {
        Self {
            priority: Reverse(line.priority),
            urgency,
            turn,
            score: (score * STEPS_OF_SCORE).round() as i64,
            application: line.application,
        }
    }

    /// The policy's score, rounded.
    pub(crate) fn score(&self) -> f64 {
        self.score as f64 / STEPS_OF_SCORE
    }

    /// Whether it goes though it does not fit.
    pub(crate) fn goes_by_request(&self) -> bool {
        matches!(self.urgency, Urgency::Starves | Urgency::OwedFlow)
    }
}

/// An application that may go to the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Contender {
    pub(crate) rank: Rank,
    pub(crate) row: Row,
    pub(crate) queue: usize,
    /// The application whose planned start it would delay.
    pub(crate) waits_behind: Option<ApplicationId>,
}

impl Contender {
    /// A contender that waits behind nobody.
    pub(crate) fn new(row: Row, line: &Line, rank: Rank) -> Self {
        Self { rank, row, queue: line.queue as usize, waits_behind: None }
    }

    pub(crate) fn application(&self) -> ApplicationId {
        self.rank.application
    }

    /// Whether this contender precedes the other one in their queue.
    pub(crate) fn goes_before(&self, other: &Contender) -> bool {
        self.queue == other.queue && self.rank < other.rank
    }
}

/// Keeps the best `places` contenders of each queue.
pub(crate) struct Contest {
    places: usize,
    /// By queue, the worst on top.
    best: Vec<BinaryHeap<Contender>>,
}

impl Contest {
    pub(crate) fn new(places: usize, queues: usize) -> Self {
        Self { places, best: vec![BinaryHeap::new(); queues] }
    }

    /// Whether a usual turn with a score of `at_least` or more cannot win a place.
    #[inline]
    fn is_lost(&self, line: &Line, urgency: Urgency, at_least: f64) -> bool {
        let best = &self.best[line.queue as usize];
        let Some(Contender { rank, .. }) = best.peek().filter(|_| best.len() == self.places) else {
            return false;
        };
        let class = (Reverse(line.priority), urgency);
        match class.cmp(&(rank.priority, rank.urgency)) {
            Ordering::Less => false,
            Ordering::Greater => true,
            // Allows for one rounding step.
            Ordering::Equal => at_least * STEPS_OF_SCORE - 1.0 > rank.score as f64,
        }
    }

    /// Enters a row in its usual turn, unless its score cannot win a place. `need` is called only if it can.
    #[inline]
    pub(crate) fn offer<'a>(
        &mut self,
        row: Row,
        line: &Line,
        urgency: Urgency,
        scores: &Scores<'_>,
        need: impl FnOnce() -> Need<'a>,
    ) {
        if self.is_lost(line, urgency, scores.lower_bound(row, line)) {
            return;
        }
        let score = scores.exact(row, line, &need());
        self.enter(Contender::new(row, line, Rank::new(line, urgency, Turn::Usual, score)));
    }

    fn enter(&mut self, contender: Contender) {
        let best = &mut self.best[contender.queue];
        if best.len() < self.places {
            best.push(contender);
        } else if let Some(mut last) = best.peek_mut()
            && contender < *last
        {
            *last = contender;
        }
    }

    /// Updates every contender that has a place.
    pub(crate) fn for_each_mut(&mut self, mut update: impl FnMut(&mut Contender)) {
        for best in &mut self.best {
            let mut contenders = std::mem::take(best).into_vec();
            contenders.iter_mut().for_each(&mut update);
            *best = contenders.into();
        }
    }

    /// The contenders that have a place, best first.
    pub(crate) fn in_order(&self) -> Vec<Contender> {
        let mut all: Vec<_> = self.best.iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// Whether all places of a queue are taken, so that more contenders may exist.
    pub(crate) fn is_full(&self, queue: usize) -> bool {
        self.best[queue].len() == self.places
    }
}
