//! Rough starts of the applications that the steps of the forecast do not suffice for.
//!
//! Applications of one queue that ask for the same label form a line. A line moves on at the rate at which the forecast
//! started its containers. If it started none, the line moves on at the rate at which the queue's running containers end; if
//! none ends, at the rate at which the nodes' containers end. An application starts when its first container and
//! all containers before it have had their turn. `docs/decisions/0052` has the reasons.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::flow::{Event, Flow};
use super::{End, ExpectedStart, Waits};
use crate::cluster::bookable::Booked;

/// Below this, what the forecast covers gives no rate.
const LEAST_COVERED_MS: f64 = 10_000.0;

/// Containers that wait for the same room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Line {
    /// None for all queues.
    queue: Option<usize>,
    /// The number of the label that is asked for; none also for held applications, which wait for any master to end.
    label: Option<usize>,
    is_held: bool,
    /// None for all users that are not at their limit.
    user: Option<usize>,
}

impl Line {
    pub(super) fn of(waits: &Waits) -> Self {
        let Waits { queue, label, is_held, .. } = *waits;
        let label = label.filter(|_| !is_held);
        Self { queue: Some(queue), label, is_held, user: None }
    }

    /// The user's own line if the user is at its limit: then others pass.
    fn of_user(self, user: usize, at_limit: &HashSet<Line>) -> Self {
        let own = Self { user: Some(user), ..self };
        if at_limit.contains(&own) { own } else { Self { user: None, ..self } }
    }
}

/// What a container counts for in its line: 1 for a held application, else bytes of memory.
pub(super) fn amount_of(booked: Booked, is_held: bool) -> f64 {
    if is_held { 1.0 } else { booked.memory_bytes.max(1) as f64 }
}

/// Containers of a queue and user that end.
#[derive(Debug, Clone, Copy, Default)]
struct Ending {
    amount: f64,
    /// Each amount times its time left.
    amount_ms: f64,
}

impl Ending {
    /// The amount that ends in a millisecond. On average a container is in the middle of its life.
    fn rate(self) -> f64 {
        self.amount * self.amount / (2.0 * self.amount_ms)
    }
}

/// How fast lines move on.
struct Rates {
    /// By the time that the forecast covers.
    started: HashMap<Line, f64>,
    ending: HashMap<Line, f64>,
    /// How many lines have neither, by the line of all queues whose rate they share.
    sharing: HashMap<Line, HashSet<Line>>,
}

impl Rates {
    fn own(&self, line: Line) -> Option<f64> {
        self.started.get(&line).or_else(|| self.ending.get(&line)).copied()
    }

    /// A line that waits takes part in the rate of all queues if it has none of its own.
    fn add(&mut self, line: Line) {
        if self.own(line).is_none() {
            self.sharing.entry(Line { queue: None, ..line }).or_default().insert(line);
        }
    }

    /// How long it takes until a line has moved on by an amount, in milliseconds; none if nothing makes room for it.
    fn time_ms(&self, line: Line, amount: f64) -> Option<f64> {
        let of_others = || {
            let of_nodes = Line { queue: None, ..line };
            let may_take = !line.is_held && line.user.is_none();
            let rate = self.ending.get(&of_nodes).filter(|_| may_take)?;
            Some(rate / self.sharing.get(&of_nodes)?.len() as f64)
        };
        self.own(line).or_else(of_others).map(|rate| amount / rate)
    }
}

/// The largest free sizes of the nodes of a label, none of which fits into another.
struct Largest {
    label: usize,
    is_open: bool,
    sizes: Vec<Booked>,
}

impl Flow {
    /// Gives those without a start a rough one, unless it is later than `latest_ms` or nothing that ends makes room.
    pub(super) fn extrapolate(&mut self, reached_ms: i64, latest_ms: i64) {
        let at_limit = self.lines_at_limit();
        let covered_ms = reached_ms.saturating_sub(self.now_ms).max(1) as f64;
        let mut started: HashMap<Line, f64> = HashMap::new();
        // Overdue containers end at once. What they made room for says nothing of the time after.
        let started_in_time = self.started.iter().filter(|_| covered_ms >= LEAST_COVERED_MS);
        for ((line, user), amount) in started_in_time {
            *started.entry(line.of_user(*user, &at_limit)).or_default() += amount / covered_ms;
        }
        let ending = self.end_all(&at_limit, reached_ms, latest_ms);
        let mut rates = Rates { started, ending, sharing: HashMap::new() };
        let largest = self.largest_sizes();
        // Others pass what can never start.
        let left = self.queues.iter().flat_map(|queue| queue.left());
        let left: Vec<usize> =
            left.filter(|place| self.has_room(&self.waiting[*place], &largest)).collect();
        for place in &left {
            rates.add(Line::of(&self.waiting[*place]));
        }
        let mut before: HashMap<Line, f64> = HashMap::new();
        for place in left {
            let waits = &self.waiting[place];
            let shared = Line::of(waits);
            let line = shared.of_user(waits.user, &at_limit);
            let shared_before = before.get(&shared).copied().unwrap_or(0.0);
            let before = before.entry(line).or_default();
            let amount = amount_of(waits.load.booked, waits.is_held);
            let with_first = *before + amount;
            *before += amount * f64::from(waits.containers.max(1));
            if self.expected.contains_key(&waits.application) {
                continue;
            }
            // A user at its limit is not served before its queue is.
            let of_queue_ms = rates.time_ms(shared, shared_before).unwrap_or(0.0);
            let at_ms = rates.time_ms(line, with_first).map(|time_ms| {
                // Too large a number becomes the largest, which is later than the latest.
                reached_ms.saturating_add(time_ms.max(of_queue_ms).ceil() as i64)
            });
            if let Some(at_ms) = at_ms.filter(|at_ms| *at_ms <= latest_ms) {
                let start = ExpectedStart { at_ms, is_rough: true };
                self.expected.insert(waits.application, start);
            }
        }
    }

    /// The lines of users whose limit lets them start nothing.
    fn lines_at_limit(&self) -> HashSet<Line> {
        let largest = self.largest_sizes();
        let mut lines = HashSet::new();
        for waits in &self.waiting {
            let mut nodes = largest.iter().filter(|nodes| nodes.is_for(waits.label));
            let is_at_limit = nodes.all(|nodes| {
                let account = self.accounts.known(waits.queue, nodes.label);
                account.is_some_and(|it| self.accounts.is_user_at_limit((it, waits.user)))
            });
            if is_at_limit {
                lines.insert(Line { user: Some(waits.user), ..Line::of(waits) });
            }
        }
        lines
    }

    /// Ends all that ends in time, and returns the rate at which it does, by what waits for it.
    fn end_all(
        &mut self,
        at_limit: &HashSet<Line>,
        reached_ms: i64,
        latest_ms: i64,
    ) -> HashMap<Line, f64> {
        let mut by_name: HashMap<_, Ending> = HashMap::new();
        for Reverse((at_ms, event)) in std::mem::take(&mut self.agenda).into_vec() {
            let Event::End(place) = event else {
                continue;
            };
            if at_ms > latest_ms {
                continue;
            }
            let End { room, load, account, user, is_master, .. } = self.give_back(place);
            let queue = Some(self.accounts.accounts[account].queue);
            let room = &self.rooms[room];
            let left_ms = at_ms.saturating_sub(reached_ms).max(1) as f64;
            let mut add = |label, is_held| {
                let amount = amount_of(load.booked, is_held);
                let name = (Line { queue, label, is_held, user: None }, user);
                let ending = by_name.entry(name).or_default();
                ending.amount += amount;
                ending.amount_ms += amount * left_ms;
            };
            if is_master {
                add(None, true);
            }
            if !room.is_draining {
                add(Some(room.label), false);
            }
            if !room.is_draining && room.is_open {
                add(None, false);
            }
        }
        let mut rates: HashMap<Line, f64> = HashMap::new();
        for ((line, user), ending) in by_name {
            *rates.entry(line.of_user(user, at_limit)).or_default() += ending.rate();
            *rates.entry(Line { queue: None, ..line }).or_default() += ending.rate();
        }
        rates
    }

    fn largest_sizes(&self) -> Vec<Largest> {
        let mut all: Vec<Largest> = Vec::new();
        for room in self.rooms.iter().filter(|room| !room.is_draining) {
            let place = all.iter().position(|it| it.label == room.label).unwrap_or_else(|| {
                let (label, is_open) = (room.label, room.is_open);
                all.push(Largest { label, is_open, sizes: Vec::new() });
                all.len() - 1
            });
            let sizes = &mut all[place].sizes;
            if !sizes.iter().any(|size| room.free.fits_into(*size)) {
                sizes.retain(|size| !size.fits_into(room.free));
                sizes.push(room.free);
            }
        }
        all
    }

    /// Whether there is a node, and room in the names of its queue and user.
    fn has_room(&self, waits: &Waits, largest: &[Largest]) -> bool {
        let booked = waits.load.booked;
        let mut nodes = largest.iter().filter(|nodes| nodes.is_for(waits.label));
        nodes.any(|nodes| {
            let account = self.accounts.known(waits.queue, nodes.label);
            nodes.sizes.iter().any(|size| booked.fits_into(*size))
                && account.is_some_and(|it| self.accounts.admit((it, waits.user), booked))
        })
    }
}

impl Largest {
    /// As [`super::room::Room::is_for`].
    fn is_for(&self, label: Option<usize>) -> bool {
        label.map_or(self.is_open, |label| label == self.label)
    }
}
