//! The forecast itself: ends in their order, and starts in the order of the queues.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::accounts::Accounts;
use super::room::Room;
use super::{End, ExpectedStart, StartForecast, Waits};
use crate::cluster::state::ApplicationId;

/// The latest start that is forecast, in milliseconds: a day.
const AHEAD_MS: i64 = 86_400_000;

/// Number of comparisons of a container with a node; what is left then has no expected start.
const COMPARISONS: usize = 2_000_000;

/// Number of applications of one queue, first in its order, that are compared with a node at a time.
const COMPARED_OF_A_QUEUE: usize = 64;

/// Number of nodes with room that are compared when an application begins to starve.
const OTHERS_COMPARED: usize = 8;

/// An application that could start now by all that is known, and has waited for this long, is held up by something
/// unknown, such as a placement constraint. It has no expected start, and takes nothing.
const HELD_UP_AFTER_MS: i64 = 10_000;

/// A container whose length is not predicted is taken to run for this long once it started, in milliseconds.
const UNKNOWN_LENGTH_MS: i64 = 600_000;

/// What happens, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    End(usize),
    Starves(usize),
}

struct Flow {
    now_ms: i64,
    starvation_wait_ms: i64,
    rooms: Vec<Room>,
    /// All that ran at first, and all that was started since.
    ends: Vec<End>,
    agenda: BinaryHeap<Reverse<(i64, Event)>>,
    waiting: Vec<Waits>,
    /// By queue, the places of those that wait, in order.
    queues: Vec<Vec<usize>>,
    /// By queue, how many application masters it may start.
    masters: Vec<u32>,
    accounts: Accounts,
    /// The nodes that had room for somebody when they were last compared.
    open: BTreeSet<usize>,
    expected: HashMap<ApplicationId, ExpectedStart>,
    /// Applications whose start is still unknown.
    unknown: usize,
    smallest_bytes: i64,
    comparisons: usize,
}

fn is_held_up(has_waited_ms: i64) -> bool {
    has_waited_ms >= HELD_UP_AFTER_MS
}

impl StartForecast {
    /// When each application's next container starts. Those without an entry start later than in a day, or when is not
    /// known.
    pub fn run(self) -> HashMap<ApplicationId, ExpectedStart> {
        if self.waiting.is_empty() {
            return HashMap::new();
        }
        Flow::new(self).run()
    }
}

impl Flow {
    fn new(copy: StartForecast) -> Self {
        let StartForecast {
            now_ms, rooms, ends, mut waiting, accounts, starvation_wait_ms, ..
        } = copy;
        waiting.sort_unstable_by_key(|waits| waits.rank);
        let mut queues = vec![Vec::new(); accounts.queue_count()];
        for (place, waits) in waiting.iter().enumerate() {
            queues[waits.queue].push(place);
        }
        let smallest = waiting.iter().map(|waits| waits.load.booked.memory_bytes).min();
        let all_end = ends.iter().enumerate().map(|(at, end)| (end.at_ms, Event::End(at)));
        let starve = waiting.iter().enumerate().filter_map(|(at, waits)| {
            let starves_ms = waits.since_ms.saturating_add(starvation_wait_ms);
            (starves_ms > now_ms).then_some((starves_ms, Event::Starves(at)))
        });
        Self {
            now_ms,
            starvation_wait_ms,
            agenda: all_end.chain(starve).map(Reverse).collect(),
            masters: vec![0; queues.len()],
            unknown: waiting.len(),
            rooms,
            ends,
            waiting,
            queues,
            accounts,
            open: BTreeSet::new(),
            expected: HashMap::new(),
            smallest_bytes: smallest.unwrap_or(0),
            comparisons: 0,
        }
    }

    fn run(mut self) -> HashMap<ApplicationId, ExpectedStart> {
        for room in 0..self.rooms.len() {
            self.fill(room, self.now_ms);
        }
        let latest_ms = self.now_ms.saturating_add(AHEAD_MS);
        while let Some(Reverse((at_ms, event))) = self.agenda.pop() {
            if self.unknown == 0 || self.comparisons >= COMPARISONS || at_ms > latest_ms {
                break;
            }
            match event {
                Event::End(place) => {
                    let room = self.end(place);
                    self.fill(room, at_ms);
                }
                Event::Starves(place) => self.starves(place, at_ms),
            }
        }
        self.expected
    }

    /// A container ends; gives its node.
    fn end(&mut self, place: usize) -> usize {
        let End { room, load, account, user, is_master, is_rough, .. } = self.ends[place].clone();
        let on = &mut self.rooms[room];
        on.give_back(&load);
        on.is_rough |= is_rough;
        self.accounts.give_back((account, user), load.booked, is_rough);
        if is_master {
            self.masters[self.accounts.accounts[account].queue] += 1;
        }
        room
    }

    /// An application is placed by request from now on.
    fn starves(&mut self, place: usize, at_ms: i64) {
        let Waits { containers, since_ms, load, .. } = &self.waiting[place];
        if *containers == 0 || at_ms.saturating_sub(*since_ms) < self.starvation_wait_ms {
            return;
        }
        let open = self.open.iter().copied().filter(|room| self.rooms[*room].fits(load, true));
        for room in open.take(OTHERS_COMPARED).collect::<Vec<_>>() {
            self.fill(room, at_ms);
        }
    }

    /// Starts on a node what goes there, the queue first that has the smallest part of its guarantee.
    fn fill(&mut self, room: usize, at_ms: i64) {
        while self.rooms[room].free.memory_bytes >= self.smallest_bytes {
            let Some((place, account)) = self.next_for(room, at_ms) else {
                self.open.insert(room);
                return;
            };
            self.start(place, (room, account), at_ms);
        }
        self.open.remove(&room);
    }

    /// The place of what goes to a node next, and the account that it takes from.
    fn next_for(&mut self, room: usize, at_ms: i64) -> Option<(usize, usize)> {
        let label = self.rooms[room].label;
        let accounts = &self.accounts;
        let served = |queue: usize| {
            let account = accounts.known(queue, label)?;
            Some((accounts.accounts[account].served(), queue, account))
        };
        let waits = (0..self.queues.len()).filter(|queue| !self.queues[*queue].is_empty());
        let mut in_order: Vec<_> = waits.filter_map(served).collect();
        in_order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, queue, account) in in_order {
            let first = self.queues[queue].iter().copied().take(COMPARED_OF_A_QUEUE);
            for place in first {
                self.comparisons += 1;
                if self.may_start(place, (room, account), at_ms) {
                    return Some((place, account));
                }
            }
        }
        None
    }

    fn may_start(&self, place: usize, (room, account): (usize, usize), at_ms: i64) -> bool {
        let waits = &self.waiting[place];
        let room = &self.rooms[room];
        let has_waited_ms = at_ms.saturating_sub(waits.since_ms);
        let starves = has_waited_ms >= self.starvation_wait_ms;
        // The mean of its demand fits there now, and its demand over time did not.
        let was_refused = at_ms <= self.now_ms && room.left.is_some() && is_held_up(has_waited_ms);
        let may_have_a_master = !waits.is_held || self.masters[waits.queue] > 0;
        may_have_a_master
            && !was_refused
            && room.fits(&waits.load, starves)
            && self.accounts.admit((account, waits.user), waits.load.booked)
    }

    /// The next container of an application starts on a node, unless something unknown holds it.
    fn start(&mut self, place: usize, (room, account): (usize, usize), at_ms: i64) {
        let waits = &mut self.waiting[place];
        let queue = waits.queue;
        let is_first = !self.expected.contains_key(&waits.application);
        let has_waited_ms = self.now_ms.saturating_sub(waits.since_ms);
        if is_first && at_ms <= self.now_ms && is_held_up(has_waited_ms) {
            self.unknown -= 1;
            self.queues[queue].retain(|other| *other != place);
            return;
        }
        waits.since_ms = at_ms;
        waits.containers = waits.containers.saturating_sub(1);
        let is_last = waits.containers == 0;
        let Waits { application, load, user, is_master, length_ms, is_held, .. } = *waits;
        let on = &mut self.rooms[room];
        on.take(&load);
        let is_rough = on.is_rough || self.accounts.is_rough((account, user));
        self.accounts.take((account, user), load.booked);
        if is_first {
            self.unknown -= 1;
            self.expected.insert(application, ExpectedStart { at_ms, is_rough });
        }
        if is_held {
            self.masters[queue] = self.masters[queue].saturating_sub(1);
        }
        if is_last {
            self.queues[queue].retain(|other| *other != place);
        }
        let end_ms = at_ms.saturating_add(length_ms.unwrap_or(UNKNOWN_LENGTH_MS));
        let is_rough = is_rough || length_ms.is_none();
        self.agenda.push(Reverse((end_ms, Event::End(self.ends.len()))));
        self.ends.push(End { at_ms: end_ms, is_rough, room, load, account, user, is_master });
    }
}
