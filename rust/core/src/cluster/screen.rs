//! What can be said beforehand about every row of [`super::waiting`] on nodes of one size, in a form
//! that rules most rows in or out without a look at their demand.

use super::application::Predicted;
use super::node_entry::NodeEntry;
use super::prospect::need;
use super::sums::Sums;
use super::waiting::{Line, Row};
use crate::amounts::Amounts;
use crate::fit::Peaks;
use crate::left::Left;
use crate::need::{Need, short_in_total};
use crate::resources::{Resource, Resources};
use crate::windows::{
    Coarse, NO_NEED, Verdict, WINDOWS, WindowSet, coarse, coarse_need, compare, compare_slots,
    window_slots,
};

/// Columns beside the rows of the waiting table.
#[derive(Debug)]
pub(super) struct Screen {
    /// When it was last asked for, in looks.
    pub(super) used: u64,
    capacity: Resources,
    registered_vcores: u32,
    peaks: Peaks,
    /// Rows to be computed anew; some more than once, and some that are gone.
    outdated: Vec<Row>,
    lives: Vec<Life>,
    /// Memory needed, with the margin, at most in each window.
    memory: Vec<Coarse>,
    /// The same of CPU, network and disk, less what may pass what is left: nothing of CPU where that
    /// is held to the total.
    stretchable: Vec<[Coarse; 3]>,
    /// Memory needed, with the margin, in each slot.
    memory_slots: Vec<Box<[i32]>>,
    /// Needed with the margin in total over life; in each slot where there is no end.
    needed: Vec<Amounts>,
    /// Needed with the margin at most in a slot.
    most: Vec<Amounts>,
    /// Whether CPU is held to the total under [`Peaks::Soft`].
    large_in_cpu: Vec<bool>,
    demanded: Sums,
}

/// Slots from start to predicted end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Outdated,
    /// The request is no demand on this size of node.
    NoDemand,
    Endless,
    Slots(u32),
}

const STRETCHABLE: [Resource; 3] = [Resource::Cpu, Resource::Network, Resource::Disk];

impl Screen {
    pub(super) fn new(entry: &NodeEntry, peaks: Peaks, rows: usize) -> Self {
        let mut screen = Self {
            used: 0,
            capacity: entry.node.capacity,
            registered_vcores: entry.registered.vcores,
            peaks,
            outdated: Vec::new(),
            lives: Vec::with_capacity(rows),
            memory: Vec::with_capacity(rows),
            stretchable: Vec::with_capacity(rows),
            memory_slots: Vec::with_capacity(rows),
            needed: Vec::with_capacity(rows),
            most: Vec::with_capacity(rows),
            large_in_cpu: Vec::with_capacity(rows),
            demanded: Sums::default(),
        };
        for _ in 0..rows {
            screen.push();
        }
        screen
    }

    pub(super) fn is_for(&self, entry: &NodeEntry) -> bool {
        self.capacity == entry.node.capacity && self.registered_vcores == entry.registered.vcores
    }

    pub(super) fn push(&mut self) {
        self.outdated.push(self.lives.len());
        self.lives.push(Life::Outdated);
        self.memory.push([NO_NEED; WINDOWS]);
        self.memory_slots.push(Box::default());
        self.stretchable.push([[NO_NEED; WINDOWS]; 3]);
        self.needed.push(Amounts::ZERO);
        self.most.push(Amounts::ZERO);
        self.large_in_cpu.push(false);
        self.demanded.push();
    }

    pub(super) fn outdate(&mut self, row: Row) {
        self.lives[row] = Life::Outdated;
        self.outdated.push(row);
    }

    pub(super) fn swap_remove(&mut self, row: Row) {
        self.lives.swap_remove(row);
        self.memory.swap_remove(row);
        self.memory_slots.swap_remove(row);
        self.stretchable.swap_remove(row);
        self.needed.swap_remove(row);
        self.most.swap_remove(row);
        self.large_in_cpu.swap_remove(row);
        self.demanded.swap_remove(row);
        if self.lives.get(row) == Some(&Life::Outdated) {
            self.outdated.push(row);
        }
    }

    /// Computes what is outdated, for nodes of the size of `entry`.
    pub(super) fn update(
        &mut self,
        entry: &NodeEntry,
        lines: &[Line],
        predicted: &[Option<Predicted>],
    ) {
        while let Some(row) = self.outdated.pop() {
            if self.lives.get(row) == Some(&Life::Outdated) {
                match need(entry, predicted[row].as_ref(), lines[row].request) {
                    Ok(need) => self.compute(row, &need),
                    Err(_) => self.lives[row] = Life::NoDemand,
                }
            }
        }
    }

    fn compute(&mut self, row: Row, need: &Need<'_>) {
        self.demanded.compute(row, need);
        let terms = need.terms(self.peaks);
        self.large_in_cpu[row] = terms.soft && !terms.in_every_slot.contains(&Resource::Cpu);
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
            let may_pass = self.may_pass();
            let coarse = |resource| {
                let held = self.peaks == Peaks::Stretch || terms.in_every_slot.contains(&resource);
                let most = most.filter(|_| held);
                most.map_or(NO_NEED, |most: Amounts| {
                    coarse_need(most.get(resource) - may_pass.get(resource))
                })
            };
            for (windows, resource) in self.stretchable[row].iter_mut().zip(STRETCHABLE) {
                windows[window] = coarse(resource);
            }
        }
        self.needed[row] = needed_in_total;
        self.most[row] = most_in_life;
        self.memory_slots[row] = memory_slots.into();
    }

    /// Whether the row's next container fits; otherwise the first resource that lacks. None where
    /// its request is no demand. `need` is asked for only where the windows leave it open.
    #[inline]
    pub(super) fn short<'a>(
        &self,
        row: Row,
        left: &Left,
        need: impl FnOnce() -> Option<Need<'a>>,
    ) -> Option<Result<(), Resource>> {
        let life = match self.lives[row] {
            Life::Slots(life) => life as usize,
            Life::Endless => {
                let there = left.least().plus(left.tolerance());
                let fits = self.needed[row].max(there) == there;
                return if fits {
                    Some(Ok(()))
                } else {
                    Some(look_closer(&need()?, left, self.peaks, |_| true))
                };
            }
            Life::NoDemand | Life::Outdated => return None,
        };
        let verdict = self.compare(row, left, Resource::Memory);
        if self.peaks != Peaks::Stretch {
            let short = self.short_of_any(row, left, verdict, need)?;
            let in_total: &[Resource] = if self.large_in_cpu[row] {
                &[Resource::Cpu]
            } else {
                &[]
            };
            let in_total = || short_in_total(left, self.needed[row], life, in_total);
            return Some(short.and_then(|()| in_total().map_or(Ok(()), Err)));
        }
        let open = |window| self.is_open(row, left, Resource::Memory, window);
        let verdict = match verdict {
            Verdict::LookCloser => self.compare_memory(row, left, open),
            clear => clear,
        };
        match verdict {
            Verdict::Exceeds => return Some(Err(Resource::Memory)),
            Verdict::Fits => {}
            Verdict::LookCloser => {
                let fit = look_closer(&need()?, left, self.peaks, open);
                if fit.is_err() {
                    return Some(fit);
                }
            }
        }
        Some(short_in_total(left, self.needed[row], life, &STRETCHABLE).map_or(Ok(()), Err))
    }

    /// Peaks must not meet: any resource in any slot decides, the earliest first.
    fn short_of_any<'a>(
        &self,
        row: Row,
        left: &Left,
        memory: Verdict,
        need: impl FnOnce() -> Option<Need<'a>>,
    ) -> Option<Result<(), Resource>> {
        let fits = |resource: &Resource| self.compare(row, left, *resource) == Verdict::Fits;
        if memory == Verdict::Fits && STRETCHABLE.iter().all(fits) {
            return Some(Ok(()));
        }
        let open = |window| {
            let is_open = |resource: &Resource| self.is_open(row, left, *resource, window);
            Resource::ALL.iter().any(is_open)
        };
        Some(look_closer(&need()?, left, self.peaks, open))
    }

    /// By how much CPU, network and disk may pass what is left.
    fn may_pass(&self) -> Amounts {
        if self.peaks == Peaks::Soft {
            Amounts::rounded_down(self.capacity).soft()
        } else {
            Amounts::ZERO
        }
    }

    fn windows(&self, row: Row, resource: Resource) -> &Coarse {
        match resource {
            Resource::Memory => &self.memory[row],
            Resource::Cpu => &self.stretchable[row][0],
            Resource::Network => &self.stretchable[row][1],
            Resource::Disk => &self.stretchable[row][2],
        }
    }

    #[inline]
    fn compare(&self, row: Row, left: &Left, resource: Resource) -> Verdict {
        let left = left.windows();
        let index = resource as usize;
        compare(
            self.windows(row, resource),
            &left.least[index],
            &left.most[index],
        )
    }

    /// Memory slot by slot, in the windows that are open.
    fn compare_memory(&self, row: Row, left: &Left, is_open: impl Fn(usize) -> bool) -> Verdict {
        let need = &self.memory_slots[row];
        let of_window = |window| {
            let (from, to) = window_slots(window);
            let need = need.get(from..to.min(need.len())).unwrap_or_default();
            compare_slots(need, left.memory_from(from))
        };
        (0..WINDOWS)
            .filter(|window| is_open(*window))
            .map(of_window)
            .fold(Verdict::Fits, Verdict::and)
    }

    fn is_open(&self, row: Row, left: &Left, resource: Resource, window: usize) -> bool {
        let least = left.windows().least[resource as usize][window];
        self.windows(row, resource)[window] >= least
    }

    /// The windows in which CPU, network or disk may lack.
    pub(super) fn delayed_in(&self, row: Row, left: &Left) -> WindowSet {
        if self.peaks == Peaks::Soft && self.large_in_cpu[row] {
            return WindowSet::ALL;
        }
        let least = &left.windows().least;
        // Rounded up, since it was taken off before rounding.
        let may_pass = self.may_pass();
        let may_pass = STRETCHABLE.map(|resource| match may_pass.get(resource) {
            0 => 0,
            amount => coarse(amount).saturating_add(2),
        });
        let may_lack = |window: usize| {
            let windows = self.stretchable[row].iter().zip(STRETCHABLE).zip(may_pass);
            windows
                .map(|((need, resource), may_pass)| {
                    need[window].saturating_add(may_pass) >= least[resource as usize][window]
                })
                .fold(false, |may_lack, of_this| may_lack | of_this)
        };
        WindowSet::of(may_lack)
    }

    /// Slots from start to predicted end; none without one.
    pub(super) fn life(&self, row: Row) -> Option<usize> {
        match self.lives[row] {
            Life::Slots(life) => Some(life as usize),
            _ => None,
        }
    }

    /// Needed with the margin at most in a slot.
    pub(super) fn most(&self, row: Row) -> Amounts {
        self.most[row]
    }

    /// What the rows demand, without the margin.
    pub(super) fn demanded(&self) -> &Sums {
        &self.demanded
    }
}

fn look_closer(
    need: &Need<'_>,
    left: &Left,
    peaks: Peaks,
    look_into: impl Fn(usize) -> bool,
) -> Result<(), Resource> {
    match need.first_short(left, need.terms(peaks), look_into) {
        Some((_, resource)) => Err(resource),
        None => Ok(()),
    }
}
