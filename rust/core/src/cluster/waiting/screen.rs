//! Columns computed beforehand for every row of [`super::table`], for nodes of one size. They
//! decide most rows without reading the row's demand.

use super::demand_sums::DemandSums;
use super::row::{Line, Row};
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
    /// Rows to recompute; a row may occur twice or no longer exist.
    outdated: Vec<Row>,
    lives: Vec<Life>,
    /// Peak memory need in each window, with the margin.
    memory: Vec<Coarse>,
    /// Peak CPU, network and disk need in each window, with the margin and less the allowed excess.
    /// [`NO_NEED`] of CPU where CPU is compared in total.
    flows: Vec<[Coarse; 3]>,
    outlines: Vec<Outline>,
    /// Memory need in each slot, with the margin.
    memory_slots: Vec<Box<[i32]>>,
    /// Total need over life, with the margin; the need in each slot without an end.
    needed: Vec<Amounts>,
    /// Peak need in a slot, with the margin.
    most: Vec<Amounts>,
    /// Whether CPU is compared in total under [`Peaks::Soft`].
    large_in_cpu: Vec<bool>,
    /// See [`mean_share`].
    mean_shares: Vec<f64>,
    demanded: DemandSums,
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
pub(crate) enum Life {
    Outdated,
    /// The request is no valid demand on nodes of this size.
    NoDemand,
    Endless,
    Slots(u32),
}

impl Screen {
    pub(crate) fn new(entry: &NodeEntry, peaks: Peaks, rows: usize) -> Self {
        let mut screen = Self {
            used_at: 0,
            capacity: entry.node.capacity,
            registered_vcores: entry.registered.vcores,
            peaks,
            outdated: Vec::new(),
            lives: Vec::with_capacity(rows),
            memory: Vec::with_capacity(rows),
            flows: Vec::with_capacity(rows),
            outlines: Vec::with_capacity(rows),
            memory_slots: Vec::with_capacity(rows),
            needed: Vec::with_capacity(rows),
            most: Vec::with_capacity(rows),
            large_in_cpu: Vec::with_capacity(rows),
            mean_shares: Vec::with_capacity(rows),
            demanded: DemandSums::default(),
        };
        for _ in 0..rows {
            screen.push();
        }
        screen
    }

    pub(crate) fn is_for(&self, entry: &NodeEntry) -> bool {
        self.capacity == entry.node.capacity && self.registered_vcores == entry.registered.vcores
    }

    pub(crate) fn push(&mut self) {
        self.outdated.push(self.lives.len());
        self.lives.push(Life::Outdated);
        self.memory.push([NO_NEED; WINDOWS]);
        self.outlines.push(Outline::default());
        self.memory_slots.push(Box::default());
        self.flows.push([[NO_NEED; WINDOWS]; 3]);
        self.needed.push(Amounts::ZERO);
        self.most.push(Amounts::ZERO);
        self.large_in_cpu.push(false);
        self.mean_shares.push(0.0);
        self.demanded.push();
    }

    pub(crate) fn outdate(&mut self, row: Row) {
        self.lives[row] = Life::Outdated;
        self.outdated.push(row);
    }

    pub(crate) fn swap_remove(&mut self, row: Row) {
        self.lives.swap_remove(row);
        self.memory.swap_remove(row);
        self.outlines.swap_remove(row);
        self.memory_slots.swap_remove(row);
        self.flows.swap_remove(row);
        self.needed.swap_remove(row);
        self.most.swap_remove(row);
        self.large_in_cpu.swap_remove(row);
        self.mean_shares.swap_remove(row);
        self.demanded.swap_remove(row);
        if self.lives.get(row) == Some(&Life::Outdated) {
            self.outdated.push(row);
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
                match entry.need(predicted[row].as_ref(), lines[row].request) {
                    Ok(need) => self.compute(row, &need),
                    Err(_) => self.lives[row] = Life::NoDemand,
                }
            }
        }
    }

    fn compute(&mut self, row: Row, need: &Need<'_>) {
        self.demanded.compute(row, need);
        let capacity = Amounts::rounded_down(self.capacity);
        let terms = need.terms(self.peaks, capacity);
        self.large_in_cpu[row] = terms.compare_cpu_in_total();
        self.mean_shares[row] = mean_share(capacity, self.demanded.total(row), need.life());
        let Some(life) = need.life() else {
            self.lives[row] = Life::Endless;
            self.memory_slots[row] = Box::default();
            self.needed[row] = need.needed(0);
            self.most[row] = need.needed(0);
            return;
        };
        self.lives[row] = Life::Slots(u32::try_from(life).unwrap_or(u32::MAX));
        let mut needed_in_total = Amounts::ZERO;
        let mut most_in_life = Amounts::ZERO;
        let allowed_excess = self.allowed_excess();
        let mut memory_slots = Vec::with_capacity(life);
        for window in 0..WINDOWS {
            let (from, to) = window_slots(window);
            let mut most = None;
            for slot in from..to.min(life) {
                let needed = need.needed(slot);
                needed_in_total = needed_in_total.plus(needed);
                most_in_life = most_in_life.max(needed);
                memory_slots.push(coarse_need(needed.get(Resource::Memory)));
                most = Some(most.map_or(needed, |most: Amounts| most.max(needed)));
            }
            self.memory[row][window] = most.map_or(NO_NEED, |most: Amounts| {
                coarse_need(most.get(Resource::Memory))
            });
            let coarse = |resource| {
                let most = most.filter(|_| terms.in_every_slot.contains(&resource));
                most.map_or(NO_NEED, |most: Amounts| {
                    coarse_need(most.get(resource) - allowed_excess.get(resource))
                })
            };
            for (windows, resource) in self.flows[row].iter_mut().zip(Resource::FLOWS) {
                windows[window] = coarse(resource);
            }
        }
        let windows = Resource::ALL.map(|resource| self.windows(row, resource));
        self.outlines[row] = Outline {
            at_first: windows.map(|windows| windows[0]),
            at_most: windows.map(|windows| windows.iter().copied().fold(NO_NEED, i32::max)),
        };
        self.needed[row] = needed_in_total;
        self.most[row] = most_in_life;
        self.memory_slots[row] = memory_slots.into();
    }

    /// The allowed excess of CPU, network and disk.
    pub(crate) fn allowed_excess(&self) -> Amounts {
        self.peaks
            .allowed_excess_of(Amounts::rounded_down(self.capacity))
    }

    pub(crate) fn windows(&self, row: Row, resource: Resource) -> &Coarse {
        match resource {
            Resource::Memory => &self.memory[row],
            Resource::Cpu => &self.flows[row][0],
            Resource::Network => &self.flows[row][1],
            Resource::Disk => &self.flows[row][2],
        }
    }

    pub(crate) fn outline(&self, row: Row) -> &Outline {
        &self.outlines[row]
    }

    /// Memory need in each slot, with the margin; empty without an end.
    pub(crate) fn memory_slots(&self, row: Row) -> &[i32] {
        &self.memory_slots[row]
    }

    /// Peak CPU, network and disk need in each window, less the allowed excess; see [`Screen::windows`].
    pub(crate) fn flow_windows(&self, row: Row) -> &[Coarse; 3] {
        &self.flows[row]
    }

    /// Total need over life, with the margin; the need in each slot without an end.
    pub(crate) fn needed(&self, row: Row) -> Amounts {
        self.needed[row]
    }

    /// Whether CPU is compared in total.
    pub(crate) fn is_large_in_cpu(&self, row: Row) -> bool {
        self.large_in_cpu[row]
    }

    #[inline]
    pub(crate) fn life_of(&self, row: Row) -> Life {
        self.lives[row]
    }

    /// Slots from start to predicted end; none without an end.
    pub(crate) fn life(&self, row: Row) -> Option<usize> {
        match self.lives[row] {
            Life::Slots(life) => Some(life as usize),
            _ => None,
        }
    }

    /// The terms of the row's fit.
    pub(crate) fn terms(&self, row: Row) -> Terms {
        let has_end = self.lives[row] != Life::Endless;
        self.peaks.terms(has_end, self.large_in_cpu[row])
    }

    /// See [`mean_share`].
    #[inline]
    pub(crate) fn mean_share(&self, row: Row) -> f64 {
        self.mean_shares[row]
    }

    /// Peak need in a slot, with the margin.
    pub(crate) fn most(&self, row: Row) -> Amounts {
        self.most[row]
    }

    /// Demands of the rows, without the margin.
    pub(crate) fn demanded(&self) -> &DemandSums {
        &self.demanded
    }
}
