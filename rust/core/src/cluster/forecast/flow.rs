//! The forecast itself: ends in their order, and starts in the order of the queues.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::accounts::Accounts;
use super::queue::{Queue, is_held_up};
use super::room::Room;
use super::rough::{Line, amount_of};
use super::{End, ExpectedStart, StartForecast, Waits};
use crate::cluster::bookable::Booked;
use crate::cluster::state::ApplicationId;

/// The latest start that is forecast, in milliseconds: a day.
const AHEAD_MS: i64 = 86_400_000;

/// The time that a forecast may take. A queue or an application that is compared with a node is one step, a start is
/// [`STEPS_OF_A_START`]. Applications that are left then have rough starts.
#[derive(Debug, Clone, Copy)]
pub(in crate::cluster) struct Steps {
    /// For the look at what could start now.
    pub(in crate::cluster) now: usize,
    /// With those of that look.
    pub(in crate::cluster) all: usize,
}

const STEPS: Steps = Steps { now: 500_000, all: 1_000_000 };

const STEPS_OF_A_START: usize = 10;

/// Queues that are put in order, nodes that are passed over, and applications that are passed over as too large, that
/// count as one step.
const LOOKS_OF_A_STEP: usize = 8;

/// Number of applications of one queue, first in its order, that are compared with a node at a time.
const COMPARED_OF_A_QUEUE: usize = 64;

/// Number of nodes with room that are compared when an application begins to starve, or a limit leaves room again.
const OTHERS_COMPARED: usize = 8;

/// A container whose length is not predicted is taken to run for this long once it started, in milliseconds.
const UNKNOWN_LENGTH_MS: i64 = 600_000;

/// What happens, with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    End(usize),
    Starves(usize),
}

pub(super) struct Flow {
    pub(super) now_ms: i64,
    starvation_wait_ms: i64,
    pub(super) rooms: Vec<Room>,
    /// All that ran at first, and all that was started since.
    pub(super) ends: Vec<End>,
    pub(super) agenda: BinaryHeap<Reverse<(i64, Event)>>,
    pub(super) waiting: Vec<Waits>,
    pub(super) queues: Vec<Queue>,
    pub(super) accounts: Accounts,
    /// The nodes that had room for somebody when they were last compared.
    open: BTreeSet<usize>,
    pub(super) expected: HashMap<ApplicationId, ExpectedStart>,
    /// How much was started after now, by line and user.
    pub(super) started: HashMap<(Line, usize), f64>,
    /// Applications whose start is still unknown.
    unknown: usize,
    /// The least memory that anybody waits for.
    smallest_bytes: i64,
    steps_left: usize,
}

impl StartForecast {
    /// When each application's next container starts. Those without an entry start later than in a day, or when is not
    /// known.
    pub fn run(self) -> HashMap<ApplicationId, ExpectedStart> {
        self.run_within(STEPS)
    }

    pub(in crate::cluster) fn run_within(
        self,
        steps: Steps,
    ) -> HashMap<ApplicationId, ExpectedStart> {
        if self.waiting.is_empty() {
            return HashMap::new();
        }
        Flow::new(self, steps.now).run(steps)
    }
}

impl Flow {
    fn new(copy: StartForecast, steps_left: usize) -> Self {
        let StartForecast {
            now_ms, rooms, ends, mut waiting, accounts, starvation_wait_ms, ..
        } = copy;
        waiting.sort_unstable_by_key(|waits| waits.rank);
        let mut queues = vec![Queue::default(); accounts.queue_count()];
        for (place, waits) in waiting.iter().enumerate() {
            queues[waits.queue].add(place, waits, now_ms);
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
            unknown: waiting.len(),
            rooms,
            ends,
            waiting,
            queues,
            accounts,
            open: BTreeSet::new(),
            expected: HashMap::new(),
            started: HashMap::new(),
            smallest_bytes: smallest.unwrap_or(0),
            steps_left,
        }
    }

    fn run(mut self, steps: Steps) -> HashMap<ApplicationId, ExpectedStart> {
        for room in 0..self.rooms.len() {
            self.fill(room, self.now_ms);
        }
        let is_now_known = self.steps_left > 0;
        let taken = steps.now - self.steps_left;
        self.steps_left = steps.all.saturating_sub(taken);
        let latest_ms = self.now_ms.saturating_add(AHEAD_MS);
        let mut reached_ms = self.now_ms;
        while let Some(Reverse((at_ms, event))) = self.agenda.peek().copied() {
            if self.unknown == 0 || self.steps_left == 0 || at_ms > latest_ms {
                break;
            }
            self.agenda.pop();
            reached_ms = at_ms;
            match event {
                Event::End(place) => self.end(place, at_ms),
                Event::Starves(place) => self.starves(place, at_ms),
            }
        }
        if !is_now_known {
            // Others may start now on the nodes that were not looked at.
            self.expected.values_mut().for_each(|start| start.is_rough = true);
        }
        if self.unknown > 0 && (self.steps_left == 0 || !is_now_known) {
            self.extrapolate(reached_ms, latest_ms);
        }
        for (application, planned) in
            self.waiting.iter().filter_map(|it| Some((it.application, it.planned?)))
        {
            let expected = self.expected.entry(application).or_insert(planned);
            if planned.at_ms < expected.at_ms {
                *expected = planned;
            }
        }
        self.expected
    }

    /// A container ends, and its node has room; if its queue or user was at a limit, others have, too.
    fn end(&mut self, place: usize, at_ms: i64) {
        let End { account, user, .. } = self.ends[place];
        let was_at_limit = self.accounts.is_at_limit((account, user), self.smallest_bytes);
        let End { room, is_master, is_rough, .. } = self.give_back(place);
        if is_master {
            let queue = &mut self.queues[self.accounts.accounts[account].queue];
            queue.masters += 1;
            queue.rough_masters += u32::from(is_rough);
        }
        self.fill(room, at_ms);
        if was_at_limit || is_master {
            let open: Vec<_> = self.open.iter().copied().take(OTHERS_COMPARED).collect();
            open.into_iter().for_each(|room| self.fill(room, at_ms));
        }
    }

    /// Its node, its queue and its user have again what an ended container had.
    pub(super) fn give_back(&mut self, place: usize) -> End {
        let ended = self.ends[place].clone();
        self.rooms[ended.room].give_back(&ended.load, ended.is_rough);
        let names = (ended.account, ended.user);
        self.accounts.give_back(names, ended.load.booked, ended.is_rough);
        ended
    }

    /// An application is placed by request from now on.
    fn starves(&mut self, place: usize, at_ms: i64) {
        let Waits { containers, since_ms, load, label, .. } = &self.waiting[place];
        if *containers == 0 || at_ms.saturating_sub(*since_ms) < self.starvation_wait_ms {
            return;
        }
        let passed = (self.open.len() / LOOKS_OF_A_STEP).min(self.steps_left);
        let open = self.open.iter().copied().take(passed * LOOKS_OF_A_STEP + 1);
        let open = open.map(|room| (room, &self.rooms[room]));
        let open = open.filter(|(_, room)| room.is_for(*label) && room.fits(load, true));
        let open: Vec<_> = open.map(|(place, _)| place).take(OTHERS_COMPARED).collect();
        self.steps_left = self.steps_left.saturating_sub(passed);
        for room in open {
            self.fill(room, at_ms);
        }
    }

    /// Starts on a node what goes there, the queue first that has the smallest part of its guarantee.
    fn fill(&mut self, room: usize, at_ms: i64) {
        while !self.rooms[room].is_draining
            && self.rooms[room].free.memory_bytes >= self.smallest_bytes
        {
            let next = if self.steps_left > 0 { self.next_for(room, at_ms) } else { None };
            let Some((place, account)) = next else {
                self.open.insert(room);
                return;
            };
            self.steps_left = self.steps_left.saturating_sub(STEPS_OF_A_START);
            self.start(place, (room, account), at_ms);
        }
        self.open.remove(&room);
    }

    /// The place of what goes to a node next, and the account that it takes from.
    fn next_for(&mut self, place: usize, at_ms: i64) -> Option<(usize, usize)> {
        let Self { accounts, queues, rooms, .. } = &*self;
        let room = &rooms[place];
        let served = |queue: usize| {
            let account = accounts.known(queue, room.label)?;
            Some((accounts.accounts[account].served(), queue, account))
        };
        let asks_the_young = self.asks_the_young(place, at_ms);
        let fits = |(label, least): &(Option<usize>, Booked)| {
            room.is_for(*label) && least.fits_into(room.free)
        };
        let waits = (0..queues.len()).filter(|queue| {
            let queue = &queues[*queue];
            (queue.is_young || !asks_the_young)
                && queue.startable().next().is_some()
                && queue.asks.iter().any(fits)
        });
        let may_take = |(_, queue, account): &(f64, usize, usize)| {
            let mut asks = queues[*queue].asks.iter();
            asks.any(|ask| fits(ask) && accounts.admit_any(*account, ask.1))
        };
        let mut in_order: Vec<_> = waits.filter_map(served).filter(may_take).collect();
        let looked_at = self.queues.len() / LOOKS_OF_A_STEP;
        self.steps_left = self.steps_left.saturating_sub(looked_at);
        in_order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, queue, account) in in_order {
            self.steps_left = self.steps_left.saturating_sub(1);
            if let Some(first) = self.first_of(queue, (place, account), at_ms) {
                return Some((first, account));
            }
        }
        None
    }

    /// The first application of a queue that may start on a node.
    fn first_of(
        &mut self,
        queue: usize,
        room_and_account: (usize, usize),
        at_ms: i64,
    ) -> Option<usize> {
        let room = &self.rooms[room_and_account.0];
        let (mut looked_at, mut compared) = (0, 0);
        let first = self.queues[queue].startable().find(|place| {
            looked_at += 1;
            let Waits { load, label, .. } = &self.waiting[*place];
            let is_compared = load.booked.fits_into(room.free) && room.is_for(*label);
            compared += usize::from(is_compared);
            compared > COMPARED_OF_A_QUEUE
                || is_compared && self.may_start(*place, room_and_account, at_ms)
        });
        self.steps_left = self.steps_left.saturating_sub(compared + looked_at / LOOKS_OF_A_STEP);
        first.filter(|_| compared <= COMPARED_OF_A_QUEUE)
    }

    /// Whether only those that began to wait just now may go to a node: the mean of the others' demand may fit there, and
    /// their demand over time did not.
    fn asks_the_young(&self, room: usize, at_ms: i64) -> bool {
        at_ms <= self.now_ms && self.rooms[room].left.is_some()
    }

    fn may_start(&self, place: usize, (room, account): (usize, usize), at_ms: i64) -> bool {
        let waits = &self.waiting[place];
        let has_waited_ms = at_ms.saturating_sub(waits.since_ms);
        let was_refused = self.asks_the_young(room, at_ms) && is_held_up(has_waited_ms);
        !was_refused
            && self.rooms[room].fits(&waits.load, has_waited_ms >= self.starvation_wait_ms)
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
            self.queues[queue].remove(place, waits.is_held);
            return;
        }
        let starves = at_ms.saturating_sub(waits.since_ms) >= self.starvation_wait_ms;
        waits.since_ms = at_ms;
        waits.containers = waits.containers.saturating_sub(1);
        let is_last = waits.containers == 0;
        let Waits { application, load, user, is_master, length_ms, is_held, .. } = *waits;
        let line = Line::of(waits);
        let names = (account, user);
        let mut is_rough = self.rooms[room].is_rough_for(&load, starves)
            || self.accounts.is_rough_for(names, load.booked);
        if is_held {
            let Queue { masters, rough_masters, .. } = &mut self.queues[queue];
            is_rough |= masters == rough_masters;
            *masters = masters.saturating_sub(1);
            *rough_masters = (*rough_masters).min(*masters);
        }
        self.rooms[room].take(&load, is_rough);
        self.accounts.take(names, load.booked, is_rough);
        if at_ms > self.now_ms {
            let started = self.started.entry((line, user)).or_default();
            *started += amount_of(load.booked, is_held);
        }
        if is_first {
            self.unknown -= 1;
            self.expected.insert(application, ExpectedStart { at_ms, is_rough });
        }
        if is_last {
            self.queues[queue].remove(place, is_held);
        }
        let end_ms = at_ms.saturating_add(length_ms.unwrap_or(UNKNOWN_LENGTH_MS));
        let is_rough = is_rough || length_ms.is_none();
        self.agenda.push(Reverse((end_ms, Event::End(self.ends.len()))));
        self.ends.push(End { at_ms: end_ms, is_rough, room, load, account, user, is_master });
    }
}
