//! From when on a node may take something that waits: until then it can sleep.

use elastane_core::cluster::NodeEntry;
use elastane_core::fit::Peaks;
use elastane_core::{Resources, SLOT_MS};

use super::ResourceManager;
use crate::simulator::earliest::NEVER;
use crate::simulator::kinds::{Kind, Kinds, Needed};
use crate::simulator::outlook::{Computed, Held, Outlook};

const SLOT: i64 = SLOT_MS as i64;

impl ResourceManager {
    /// From when on something that waits may go to a node; none where nothing does before something
    /// starts or ends there, or something else waits.
    pub(in crate::simulator) fn may_place_from(&mut self, node: usize, now_ms: i64) -> Option<i64> {
        let Some(peaks) = self.peaks else {
            let mut kinds = self.kinds.waiting();
            let has_room = kinds.any(|(_, kind)| self.rooms[node].may_hold(kind.request));
            return has_room.then_some(now_ms);
        };
        let now_slot = slot_at(now_ms);
        let earliest = self.earliest.of(node);
        let mut first = NEVER;
        let mut starves_ms = None;
        let mut unknown = Vec::new();
        for (number, kind) in self.kinds.waiting() {
            let Some(needed) = &kind.needed else {
                return Some(now_ms);
            };
            if earliest[number] > now_slot {
                first = first.min(earliest[number]);
            } else {
                unknown.push((number, needed));
            }
            starves_ms = sooner(starves_ms, self.starves_from(node, kind));
        }
        if starves_ms.is_some_and(|starves_ms| starves_ms <= now_ms) {
            return Some(now_ms);
        }
        if !unknown.is_empty() {
            let entry = self.cluster.node(self.nodes[node])?;
            let known = self.earliest.of_mut(node);
            let mut look = Look::new(entry, peaks, known, &mut self.computed, now_ms);
            first = look.at(&unknown, first);
            if first > now_slot {
                look.at_all_unknown(&self.kinds, first);
            }
        }
        sooner(starves_ms, starts_ms(first, now_ms))
    }

    /// The same of one kind's containers, and not later than `until_ms`.
    pub(in crate::simulator) fn may_place_one_from(
        &mut self,
        number: usize,
        node: usize,
        until_ms: Option<i64>,
        now_ms: i64,
    ) -> Option<i64> {
        let kind = self.kinds.kind(number);
        let Some(peaks) = self.peaks else {
            return self.rooms[node].may_hold(kind.request).then_some(now_ms);
        };
        let Some(needed) = &kind.needed else {
            return Some(now_ms);
        };
        let starves_ms = self.starves_from(node, kind);
        let mut first = self.earliest.of(node)[number];
        if first <= slot_at(now_ms) {
            let until = until_ms.map_or(NEVER, |until_ms| slot_at(until_ms).saturating_add(1));
            let entry = self.cluster.node(self.nodes[node])?;
            let known = self.earliest.of_mut(node);
            let mut look = Look::new(entry, peaks, known, &mut self.computed, now_ms);
            first = look.at_one(number, needed, until);
            if first > slot_at(now_ms) {
                look.at_all_unknown(&self.kinds, first.min(until));
            }
        }
        sooner(starves_ms, starts_ms(first, now_ms))
    }

    /// From when on the first application of a kind passes by request; none where it finds no room.
    fn starves_from(&self, node: usize, kind: &Kind) -> Option<i64> {
        let since_ms = kind.waits_since_ms()?;
        let has_room = self.rooms[node].holds(kind.request);
        has_room.then(|| since_ms.saturating_add(self.starvation_wait_ms))
    }
}

/// A look at what one node's executors leave.
struct Look<'a> {
    outlook: Outlook<'a>,
    capacity: Resources,
    peaks: Peaks,
    now_slot: u32,
    /// By the number of the kind, the slot before which it does not fit.
    known: &'a mut [u32],
}

impl<'a> Look<'a> {
    fn new(
        entry: &'a NodeEntry,
        peaks: Peaks,
        known: &'a mut [u32],
        computed: &'a mut Computed,
        now_ms: i64,
    ) -> Self {
        let capacity = entry.node.capacity;
        Self {
            outlook: Outlook::new(
                &entry.node,
                peaks.allowed_excess(capacity),
                computed,
                now_ms,
            ),
            capacity,
            peaks,
            now_slot: slot_at(now_ms),
            known,
        }
    }

    /// Whether the kind may fit now, as far as is known.
    fn is_unknown(&self, number: usize) -> bool {
        self.known[number] <= self.now_slot
    }

    /// From when on one of these kinds fits, where that is before `first`: looks no further for any of
    /// them than up to the first of all, nor once one fits now.
    fn at(&mut self, kinds: &[(usize, &Needed)], first: u32) -> u32 {
        let mut first = first;
        for (number, needed) in kinds {
            first = first.min(self.at_one(*number, needed, first));
            if first <= self.now_slot {
                break;
            }
        }
        first
    }

    /// Looks at all that recur, so that none of them has to be looked at alone when it begins to wait.
    fn at_all_unknown(&mut self, kinds: &Kinds, until: u32) {
        for (number, needed) in kinds.recurring() {
            if self.is_unknown(number) {
                self.at_one(number, needed, until);
            }
        }
    }

    /// From when on a kind fits, or `until` where that is later.
    fn at_one(&mut self, number: usize, needed: &Needed, until: u32) -> u32 {
        let most_cores = needed.most_cores.min(self.capacity.cpu_cores);
        let resources = self.peaks.in_every_slot(most_cores, self.capacity);
        let end = self.outlook.end();
        let limit = end.min(until.saturating_sub(self.now_slot) as usize);
        let held = Held::to(needed, resources, self.capacity);
        let slots = self.outlook.first_fit(&held, limit);
        let slot = if slots == end {
            NEVER
        } else {
            u32::try_from(slots).map_or(NEVER, |slots| self.now_slot.saturating_add(slots))
        };
        self.known[number] = slot;
        slot
    }
}

/// No earlier than now.
fn starts_ms(slot: u32, now_ms: i64) -> Option<i64> {
    (slot != NEVER).then(|| (i64::from(slot) * SLOT).max(now_ms))
}

fn slot_at(at_ms: i64) -> u32 {
    u32::try_from(at_ms.div_euclid(SLOT)).unwrap_or(NEVER - 1)
}

fn sooner(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    [a, b].into_iter().flatten().min()
}
