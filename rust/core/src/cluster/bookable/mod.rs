//! Bookable capacity: how much CapacityScheduler may book on each node. `docs/decisions/0026` has the rules.

mod booked;
mod change;
mod growth;
mod guarantee;
mod headroom;
mod hold;
mod left_for;
mod limit_use;
mod owed;
mod part;
mod proof;
mod queues;
mod shares;
mod taken;
mod users;
mod waits;
mod waits_by_queue;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;

pub(crate) use booked::Booked;
pub use change::{BookableChange, Resized};
pub use growth::BookableRatio;
pub(crate) use growth::Growth;
pub(crate) use headroom::{at_limit, headroom, next_of};
pub use hold::Preemption;
pub(crate) use hold::may_preempt;
pub(crate) use left_for::{held_and_guaranteed, left_for_queues, left_for_user};
pub use limit_use::{Filled, LimitUse};
pub use part::QueueShare;
pub(crate) use proof::{PlannedThere, demanded_of, planned_there};
pub(crate) use shares::Shares;
pub(crate) use taken::{Next, Taken, TakenBy, with_ancestors};
pub use users::{QueueAmounts, UserLimit};

use super::settings::{ClusterSettings, Exceptions};
use super::state::{Application, Applications, NodeEntry, Nodes, State};
use super::waiting::WaitingTable;
use crate::amounts::Amounts;
use crate::ids::NodeId;
use crate::left_ahead::LeftAhead;
use crate::resources::Resource;
use booked::Ratios;
use growth::ratio_of;
use hold::begin_hold;
use waits_by_queue::waits_by_queue;

/// The plans of at most this many nodes are read at a time, so that no caller waits long.
const NODES_AT_ONCE: usize = 1_024;

/// Longer between two calls is a pause of the whole process, in milliseconds.
const PAUSE_FROM_MS: i64 = 3_000;

/// The bookable capacity of all nodes.
#[derive(Debug, Default)]
pub(crate) struct Bookable {
    pub(crate) shares: Shares,
    /// The ceilings of the nodes of these labels, in the place of the cluster's.
    ceilings: BTreeMap<String, f64>,
    /// Whether every node stays at its registered size.
    is_forbidden: bool,
    /// The last node whose plan was read.
    read_up_to: Option<NodeId>,
    called_ms: Option<i64>,
}

/// Sums over the nodes of one label.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    registered: Booked,
    /// What needs no growth: registered or booked, whichever is more.
    settled: Booked,
    proven: Booked,
    /// Memory that the nodes hold in their fullest slots.
    fullest_bytes: i64,
}

impl Bookable {
    /// Sets the ceilings: bookable over registered size of a label's nodes, and requests over maximum capacity of a
    /// queue.
    pub(crate) fn set_ceilings(&mut self, exceptions: &Exceptions) {
        self.ceilings = exceptions.max_ratio_by_label.clone();
        self.shares.set_ceilings(exceptions.max_ratio_by_queue.clone());
    }

    /// Whether every node stays at its registered size from now on.
    pub(crate) fn forbid(&mut self, is_forbidden: bool) {
        self.is_forbidden = is_forbidden;
    }

    /// The nodes whose bookable capacity has to change now, at most `limit` of them.
    pub(crate) fn changes(
        &mut self,
        settings: &ClusterSettings,
        state: &mut State,
        waiting: &WaitingTable,
        limit: usize,
        now_ms: i64,
    ) -> Vec<BookableChange> {
        self.excuse_pause(settings, state, now_ms);
        let State { nodes, applications, .. } = &mut *state;
        self.shares.advance(&capacity_of(nodes), now_ms);
        if !nodes.entries().any(|entry| entry.is_enforced || entry.bookable.is_raised()) {
            // How long CapacityScheduler lets a queue wait is no debt of ours.
            self.shares.restart_waits();
            return Vec::new();
        }
        let waits = waits_by_queue(settings, &self.shares, nodes, applications, waiting);
        self.shares.read_waits(&waits, now_ms);
        // What is proven depends on who waits now.
        self.read_plans(settings, nodes, applications, waiting, now_ms);
        let sums = sums(settings, nodes, now_ms);
        let rules: HashMap<_, _> = sums
            .iter()
            .map(|(label, sums)| {
                let most = self.shares.most_booked(label, &waits, sums.fullest_bytes);
                let withheld = self.shares.withheld(label, now_ms);
                (Arc::clone(label), SizeRule::of(sums, most, withheld))
            })
            .collect();
        let (mut lowered, mut raised) = (Vec::new(), Vec::new());
        for (node, entry) in state.nodes.iter() {
            let rule = rules.get(&entry.label).copied().unwrap_or(SizeRule::Granted(Ratios::ONE));
            let (ratio, because) = self.next_ratio(settings, entry, rule, now_ms);
            let from = entry.bookable;
            if ratio != from {
                let changes = if ratio.is_below(from) { &mut lowered } else { &mut raised };
                changes.push(BookableChange { node, from, ratio, because });
            }
        }
        // What has to go down comes before what may go up.
        let mut changes = lowered;
        changes.truncate(limit);
        raised.truncate(limit - changes.len());
        changes.append(&mut raised);
        for change in &changes {
            if let Some(entry) = state.nodes.get_mut(change.node) {
                if change.ratio.is_below(change.from) {
                    begin_hold(&mut self.shares, &entry.label, now_ms);
                }
                entry.growth.resized(change.from, change.ratio, now_ms);
                entry.set_bookable(change.ratio, now_ms);
            }
        }
        self.read_raised(state);
        changes
    }

    /// Raises every node to the ceiling at once.
    pub(crate) fn raise_to_ceiling(
        &mut self,
        settings: &ClusterSettings,
        state: &mut State,
        now_ms: i64,
    ) {
        let ratio = BookableRatio::both(settings.max_ratio);
        state.nodes.iter_mut().for_each(|(_, entry)| entry.set_bookable(ratio, now_ms));
        self.read_raised(state);
    }

    fn read_raised(&mut self, state: &State) {
        let raised = state.nodes.entries().filter(|entry| entry.bookable.is_raised());
        self.shares.set_raised(raised.map(|entry| Arc::clone(&entry.label)).collect());
    }

    /// Time in which the process stood still does not make reports old, which could not arrive, nor guarantees overdue.
    fn excuse_pause(&mut self, settings: &ClusterSettings, state: &mut State, now_ms: i64) {
        let called_ms = self.called_ms.replace(now_ms);
        let Some(called_ms) =
            called_ms.filter(|last_ms| now_ms.saturating_sub(*last_ms) > PAUSE_FROM_MS)
        else {
            return;
        };
        self.shares.restart_waits();
        for (_, entry) in state.nodes.iter_mut() {
            if entry.is_fresh(settings.fresh_for_ms, called_ms) {
                entry.excuse(now_ms.saturating_add(settings.fresh_for_ms));
            }
        }
    }

    /// Works out what is proven on the next nodes.
    fn read_plans(
        &mut self,
        settings: &ClusterSettings,
        nodes: &mut Nodes,
        applications: &Applications,
        waiting: &WaitingTable,
        now_ms: i64,
    ) {
        let shares = &self.shares;
        let mut kinds_by_label: HashMap<Arc<str>, _> = HashMap::new();
        let from = self.read_up_to.map_or(Unbounded, Excluded);
        let nodes = nodes.range_mut((from, Unbounded)).take(NODES_AT_ONCE);
        let mut last = None;
        let mut read = 0;
        for (node, entry) in nodes {
            (last, read) = (Some(node), read + 1);
            if entry.is_followed(settings, now_ms) {
                entry.plan.refresh_left(&mut entry.node, now_ms);
                let label = &entry.label;
                let kinds = kinds_by_label.entry(Arc::clone(label)).or_insert_with(|| {
                    // Room for applications that may not start would look free to the preemption monitor, which
                    // would then preempt nothing for those that may.
                    let is_owed = shares.is_guarantee_waited_for(label)
                        && shares.is_any_over_guarantee(label);
                    // One in observe starts nothing above a node's registered size.
                    let counts = |it: &Application| {
                        *it.label == **label
                            && !(it.demands.are_withheld()
                                || shares.yields(&it.queue, label)
                                || is_owed && it.held.is_some())
                    };
                    proof::waiting_kinds(waiting, applications, counts)
                });
                let is_waited_for = shares.is_guarantee_waited_for(label);
                let counts = settings.virtual_cores_count;
                entry.proven = proof::bookable(entry, kinds, is_waited_for, counts);
                let left = entry.plan.left();
                let fullest = left.capacity().minus(left.least());
                entry.fullest_bytes = fullest.get(Resource::Memory);
            }
        }
        self.read_up_to = last.filter(|_| read == NODES_AT_ONCE);
    }

    fn next_ratio(
        &self,
        settings: &ClusterSettings,
        entry: &NodeEntry,
        rule: SizeRule,
        now_ms: i64,
    ) -> (BookableRatio, Resized) {
        if !entry.is_enforced {
            return (BookableRatio::REGISTERED, Resized::NotEnforced);
        }
        // The maxima by demand of a raised label would keep out the queues that may borrow from a shared one.
        if self.is_forbidden || self.shares.is_label_shared(&entry.label) {
            return (BookableRatio::REGISTERED, Resized::Forbidden);
        }
        if !entry.is_fresh(settings.fresh_for_ms, now_ms) {
            return (BookableRatio::REGISTERED, Resized::Unreported);
        }
        let registered = entry.registered_as_booked(settings.virtual_cores_count);
        let settled = registered.max(Booked::from(entry.booked));
        let granted = match rule {
            SizeRule::Granted(granted) => granted,
            SizeRule::Kept => return (entry.bookable, Resized::GuaranteeOverdue),
            SizeRule::Withheld(part) => {
                let shown =
                    ratio_of(settled.minus(settled.scaled(part)).max(registered), registered);
                return (entry.bookable.min(shown), Resized::GuaranteeOverdue);
            }
        };
        let ceiling = self.ceilings.get(&*entry.label).copied().unwrap_or(settings.max_ratio);
        let at_most = registered.scaled(Ratios::both(ceiling));
        let is_short = entry.was_short(now_ms);
        let proven = if is_short { Booked::default() } else { entry.proven };
        let surplus = proven.minus(settled).max(Booked::default()).scaled(granted);
        let target = ratio_of(settled.plus(surplus).min(at_most), registered);
        let booked = ratio_of(settled.min(at_most), registered);
        let every_ms = settings.grow_every_ms;
        let next = entry.growth.next(entry.bookable, target, booked, every_ms, now_ms);
        (next, if is_short { Resized::ShortOfMemory } else { Resized::ByDemand })
    }
}

/// What the nodes of each label have together, as they reported or else as they registered.
fn capacity_of(nodes: &Nodes) -> BTreeMap<Arc<str>, Amounts> {
    let mut by_label: BTreeMap<Arc<str>, Amounts> = BTreeMap::new();
    for entry in nodes.entries() {
        let of_label = by_label.entry(Arc::clone(&entry.label)).or_default();
        *of_label = of_label.plus(Amounts::rounded_down(entry.node.capacity));
    }
    by_label
}

fn sums(settings: &ClusterSettings, nodes: &Nodes, now_ms: i64) -> BTreeMap<Arc<str>, Sums> {
    let mut sums: BTreeMap<Arc<str>, Sums> = BTreeMap::new();
    for entry in nodes.entries() {
        let of_label = sums.entry(Arc::clone(&entry.label)).or_default();
        let registered = entry.registered_as_booked(settings.virtual_cores_count);
        let settled = registered.max(Booked::from(entry.booked));
        let may_grow = entry.is_followed(settings, now_ms) && !entry.was_short(now_ms);
        let proven = if may_grow { settled.max(entry.proven) } else { settled };
        of_label.registered = of_label.registered.plus(registered);
        of_label.settled = of_label.settled.plus(settled);
        of_label.proven = of_label.proven.plus(proven);
        // Of a node in mode observe no plan is read.
        let fullest_bytes = match entry.is_enforced {
            true => entry.fullest_bytes,
            false => Booked::from(entry.booked).memory_bytes,
        };
        of_label.fullest_bytes = of_label.fullest_bytes.saturating_add(fullest_bytes);
    }
    sums
}

/// How the sizes of a label's nodes follow what is booked and proven there.
#[derive(Debug, Clone, Copy)]
enum SizeRule {
    /// This part of the surplus may be booked, which the queues' guarantees leave.
    Granted(Ratios),
    /// No node changes its size: what ends leaves room for the queue whose guarantee is overdue.
    Kept,
    /// No node grows, and each shows CapacityScheduler less than it has booked, by this part.
    Withheld(Ratios),
}

impl SizeRule {
    fn of(sums: &Sums, most: Option<Ratios>, withheld: Option<Booked>) -> Self {
        if let Some(withheld) = withheld {
            return match withheld == Booked::default() {
                true => SizeRule::Kept,
                false => SizeRule::Withheld(withheld.over(sums.settled, 0.0).map(|it| it.min(1.0))),
            };
        }
        let Some(most) = most else {
            return SizeRule::Granted(Ratios::ONE);
        };
        let room = sums.registered.scaled(most).minus(sums.settled).max(Booked::default());
        let part = room.over(sums.proven.minus(sums.settled), 1.0);
        SizeRule::Granted(part.map(|part| part.min(1.0)))
    }
}
