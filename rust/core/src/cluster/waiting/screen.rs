//! Columns computed beforehand for every row of [`super::table`], for nodes of one size. They
//! decide most rows without reading the row's demand.

use super::demand_sums::DemandSums;
use super::{Line, Row};
use crate::amounts::Amounts;
use crate::by_plan::mean_share;
use crate::cluster::state::{NodeEntry, Predicted};
use crate::fit::{Peaks, Terms};
use crate::need::Need;
use crate::resources::{Resource, Resources};
use crate::windows::{Coarse, NO_NEED, WINDOWS, coarse_need, window_slots};

/// Columns parallel to the rows of the waiting table, for nodes of one size.
#[derive(Debug)]
pub(crate) struct Screen {
    /// The table's use count at the latest use.
    pub(crate) used_at: u64,
    capacity: Resources,
    registered_vcores: u32,
    peaks: Peaks,
    /// Rows to recompute; a row may occur twice or no longer exist. See [`Self::recompute_later`].
    outdated: Vec<Row>,
    lives: Vec<Life>,
    outlines: Vec<Outline>,
    windows: Vec<[Coarse; 4]>,
    needs: Vec<RowNeeds>,
    demanded: DemandSums,
}

/// The part of a row's needs that a round reads only where outline and windows do not decide.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowNeeds {
    /// Memory need in each slot, with the margin; empty without an end.
    pub(crate) memory_slots: Box<[i32]>,
    /// Total need over life, with the margin; the need in each slot without an end.
    pub(crate) in_total: Amounts,
    /// Peak need in a slot, with the margin.
    pub(crate) most: Amounts,
    /// Whether CPU is compared in total under [`Peaks::Soft`].
    pub(crate) is_large_in_cpu: bool,
    /// See [`mean_share`].
    pub(crate) mean_share: f64,
}

/// First and peak need of each resource, in the coarse form of the windows. A row that does not fit mostly
/// lacks a resource in the first slot, and a row that fits is mostly far below the least left.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Outline {
    /// Need in the first slot.
    pub(crate) at_first: [i32; 4],
    /// Peak need.
    pub(crate) at_most: [i32; 4],
}

/// Slots from start to predicted end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Outdated,
    Endless,
    Slots(u32),
}

const NO_WINDOWS: [Coarse; 4] = [[NO_NEED; WINDOWS]; 4];

impl Screen {
    pub(crate) fn new(entry: &NodeEntry, peaks: Peaks, rows: usize) -> Self {
        Self {
            used_at: 0,
            capacity: entry.node.capacity,
            registered_vcores: entry.registered.vcores,
            peaks,
            outdated: (0..rows).collect(),
            lives: vec![Life::Outdated; rows],
            outlines: vec![Outline::default(); rows],
            windows: vec![NO_WINDOWS; rows],
            needs: vec![RowNeeds::default(); rows],
            demanded: DemandSums::new(rows),
        }
    }

    pub(crate) fn is_for(&self, entry: &NodeEntry, peaks: Peaks) -> bool {
        self.capacity == entry.node.capacity
            && self.registered_vcores == entry.registered.vcores
            && self.peaks == peaks
    }

    pub(crate) fn is_up_to_date(&self, row: Row) -> bool {
        self.lives[row] != Life::Outdated
    }

    pub(crate) fn push(&mut self) {
        self.lives.push(Life::Outdated);
        self.outlines.push(Outline::default());
        self.windows.push(NO_WINDOWS);
        self.needs.push(RowNeeds::default());
        self.demanded.push();
        self.recompute_later(self.lives.len() - 1);
    }

    pub(crate) fn outdate(&mut self, row: Row) {
        self.lives[row] = Life::Outdated;
        self.recompute_later(row);
    }

    /// Notes a row that is outdated. Only a round on a node of this size empties the list, and there may be no such
    /// node any more, so a list of more than two entries a row is replaced by the rows that are outdated.
    fn recompute_later(&mut self, row: Row) {
        if self.outdated.len() < 2 * self.lives.len() {
            self.outdated.push(row);
            return;
        }
        let is_outdated = |row: &Row| self.lives[*row] == Life::Outdated;
        self.outdated = (0..self.lives.len()).filter(is_outdated).collect();
    }

    pub(crate) fn swap_remove(&mut self, row: Row) {
        self.lives.swap_remove(row);
        self.outlines.swap_remove(row);
        self.windows.swap_remove(row);
        self.needs.swap_remove(row);
        self.demanded.swap_remove(row);
        if self.lives.get(row) == Some(&Life::Outdated) {
            self.recompute_later(row);
        }
    }

    /// Recomputes the outdated rows for nodes of the size of `entry`.
    pub(crate) fn update(
        &mut self,
        entry: &NodeEntry,
        lines: &[Line],
        predicted: &[Option<Predicted>],
    ) {
        while let Some(row) = self.outdated.pop() {
            if self.lives.get(row) == Some(&Life::Outdated) {
                let need = entry.need(predicted[row].as_ref(), lines[row].request);
                self.compute(row, &need);
            }
        }
    }

    fn compute(&mut self, row: Row, need: &Need<'_>) {
        self.demanded.compute(row, need);
        let capacity = Amounts::rounded_down(self.capacity);
        let terms = need.terms(self.peaks, capacity);
        let mut needs = RowNeeds {
            is_large_in_cpu: !terms.in_total.is_empty(),
            mean_share: mean_share(capacity, self.demanded.total(row), need.life()),
            ..RowNeeds::default()
        };
        let Some(life) = need.life() else {
            self.lives[row] = Life::Endless;
            (needs.in_total, needs.most) = (need.needed(0), need.needed(0));
            self.needs[row] = needs;
            return;
        };
        self.lives[row] = Life::Slots(u32::try_from(life).unwrap_or(u32::MAX));
        let allowed_excess = self.peaks.allowed_excess_of(capacity);
        let mut memory_slots = Vec::with_capacity(life);
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            let mut most = None;
            for slot in from..to.min(life) {
                let needed = need.needed(slot);
                needs.in_total = needs.in_total.plus(needed);
                needs.most = needs.most.max(needed);
                memory_slots.push(coarse_need(needed.get(Resource::Memory)));
                most = Some(most.map_or(needed, |most: Amounts| most.max(needed)));
            }
            for (windows, resource) in self.windows[row].iter_mut().zip(Resource::ALL) {
                let most = most.filter(|_| terms.in_every_slot.contains(&resource));
                windows[window] = most.map_or(NO_NEED, |most: Amounts| {
                    coarse_need(most.get(resource) - allowed_excess.get(resource))
                });
            }
        }
        let windows = &self.windows[row];
        self.outlines[row] = Outline {
            at_first: windows.map(|windows| windows[0]),
            at_most: windows.map(|windows| windows.into_iter().fold(NO_NEED, i32::max)),
        };
        needs.memory_slots = memory_slots.into();
        self.needs[row] = needs;
    }

    /// Peak need in each window, in the order of [`Resource::ALL`], with the margin and less the
    /// allowed excess. [`NO_NEED`] of CPU where CPU is compared in total.
    pub(crate) fn windows(&self, row: Row) -> &[Coarse; 4] {
        &self.windows[row]
    }

    pub(crate) fn outline(&self, row: Row) -> &Outline {
        &self.outlines[row]
    }

    pub(crate) fn needs(&self, row: Row) -> &RowNeeds {
        &self.needs[row]
    }

    /// Slots from start to predicted end; none without an end.
    #[inline]
    pub(crate) fn life(&self, row: Row) -> Option<usize> {
        match self.lives[row] {
            Life::Slots(life) => Some(life as usize),
            _ => None,
        }
    }

    /// The terms of the row's fit.
    pub(crate) fn terms(&self, row: Row) -> Terms {
        let has_end = self.lives[row] != Life::Endless;
        self.peaks.terms(has_end, self.needs[row].is_large_in_cpu)
    }

    /// Demands of the rows, without the margin.
    pub(crate) fn demanded(&self) -> &DemandSums {
        &self.demanded
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::state::Request;

    #[test]
    fn what_is_noted_for_a_size_without_nodes_is_bounded() {
        let entry = NodeEntry::new("node:1", Request { memory_bytes: 8_000_000_000, vcores: 8 });
        let mut screen = Screen::new(&entry, Peaks::Strict, 2);
        for _ in 0..1_000 {
            screen.outdate(1);
            screen.push();
            screen.swap_remove(0);
            assert!(screen.outdated.len() <= 2 * screen.lives.len(), "{:?}", screen.outdated);
        }
        screen.push();
        let all = 0..screen.lives.len();
        assert!(all.into_iter().all(|row| screen.outdated.contains(&row)), "none is forgotten");
    }
}
