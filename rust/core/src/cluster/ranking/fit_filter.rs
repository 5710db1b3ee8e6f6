//! Whether a row fits a node: bounds answer most rows, and [`Fit`] decides the others.

use std::collections::HashMap;

use crate::cluster::waiting::{Life, Outline, Row, Screen};
use crate::fit::{Fit, Terms};
use crate::left::{Left, LeftWindows};
use crate::need::{Need, Series};
use crate::resources::Resource;
use crate::windows::{Coarse, Verdict, WINDOWS, WindowSet, coarse, compare_slots, window_slots};

/// From this length on, in slots, the answer for a series is remembered during a round: recurring applications
/// share their series. For shorter series remembering costs as much as looking.
const REMEMBERED_FROM_SLOTS: usize = 256;

/// All rows beside what is left of one node.
pub(crate) struct FitFilter<'a> {
    screen: &'a Screen,
    left: &'a Left,
    /// The most that is left in the first slot, of each resource.
    most_at_first: [i32; 4],
    least_at_first: [i32; 4],
    /// The least that is left at any time.
    least_ever: [i32; 4],
    /// By how much CPU, network and disk may pass what is left.
    may_pass: [i32; 3],
    /// What a look at each slot said of a series.
    remembered: HashMap<Series, Result<(), Resource>>,
}

impl<'a> FitFilter<'a> {
    pub(crate) fn new(screen: &'a Screen, left: &'a Left) -> Self {
        let LeftWindows { least, most } = left.windows();
        let may_pass = screen.may_pass();
        Self {
            screen,
            left,
            most_at_first: most.map(|windows| windows[0]),
            least_at_first: least.map(|windows| windows[0]),
            // Rounded up, since it was taken off before rounding.
            may_pass: Resource::FLOWS.map(|resource| match may_pass.get(resource) {
                0 => 0,
                amount => coarse(amount).saturating_add(2),
            }),
            least_ever: least.map(|windows| windows.into_iter().fold(i32::MAX, i32::min)),
            remembered: HashMap::new(),
        }
    }

    /// Whether the row's next container fits; otherwise the first resource that lacks. None where the request is
    /// no valid demand. `need` is called only where the bounds cannot decide.
    #[inline]
    pub(crate) fn short<'b>(
        &mut self,
        row: Row,
        need: impl FnOnce() -> Option<Need<'b>>,
    ) -> Option<Result<(), Resource>> {
        let life = match self.screen.life_of(row) {
            Life::Slots(life) => life as usize,
            Life::Endless => {
                let there = self.left.least().plus(self.left.tolerance());
                let fits = self.screen.needed(row).max(there) == there;
                return if fits {
                    Some(Ok(()))
                } else {
                    Some(look_closer(
                        &need()?,
                        self.left,
                        self.screen.terms(row),
                        |_| true,
                    ))
                };
            }
            Life::NoDemand | Life::Outdated => return None,
        };
        let short = match self.at_once(row) {
            Some(short) => short,
            None => self.short_of_any(row, need)?,
        };
        let in_total = || {
            let fit = Fit::now(self.left, self.screen.terms(row));
            fit.short_in_total(life, self.screen.needed(row))
        };
        Some(short.and_then(|()| in_total().map_or(Ok(()), Err)))
    }

    /// As [`FitFilter::short_of_any`], where the outline can tell.
    #[inline]
    fn at_once(&self, row: Row) -> Option<Result<(), Resource>> {
        let Outline { at_first, at_most } = self.screen.outline(row);
        for (i, resource) in Resource::ALL.into_iter().enumerate() {
            if at_first[i] > self.most_at_first[i] {
                return Some(Err(resource));
            }
            if at_first[i] >= self.least_at_first[i] {
                return None;
            }
        }
        let fits = (0..4).fold(-1, |fits, i| {
            fits & at_most[i].wrapping_sub(self.least_ever[i])
        });
        (fits < 0).then_some(Ok(()))
    }

    /// Peaks must not meet: any resource in any slot decides, the earliest first.
    #[inline]
    fn short_of_any<'b>(
        &mut self,
        row: Row,
        need: impl FnOnce() -> Option<Need<'b>>,
    ) -> Option<Result<(), Resource>> {
        let least = &self.left.windows().least;
        let memory = below(
            self.screen.windows(row, Resource::Memory),
            &least[Resource::Memory as usize],
        );
        let others = Resource::FLOWS
            .iter()
            .zip(self.screen.flow_windows(row))
            .map(|(resource, need)| below(need, &least[*resource as usize]))
            .fold([-1; WINDOWS], both);
        let Some(first) = both(memory, others).iter().position(|below| *below >= 0) else {
            return Some(Ok(()));
        };
        if let Some(resource) = self.short_for_sure(row, first) {
            return Some(Err(resource));
        }
        let open = |window: usize| memory[window] >= 0 || others[window] >= 0;
        let memory_alone = others.iter().all(|below| *below < 0);
        let is_short = |life| life < REMEMBERED_FROM_SLOTS;
        if self.screen.life(row).is_none_or(is_short) {
            return self.short_slot_by_slot(row, memory_alone, open, need);
        }
        let need = need()?;
        let series = need.series();
        if let Some(known) = self.remembered.get(&series) {
            return Some(*known);
        }
        let short = self.short_slot_by_slot(row, memory_alone, open, || Some(need))?;
        self.remembered.insert(series, short);
        Some(short)
    }

    /// In the windows that are open.
    fn short_slot_by_slot<'b>(
        &self,
        row: Row,
        memory_alone: bool,
        open: impl Fn(usize) -> bool,
        need: impl FnOnce() -> Option<Need<'b>>,
    ) -> Option<Result<(), Resource>> {
        if memory_alone {
            match self.compare_memory(row, &open) {
                Verdict::Fits => return Some(Ok(())),
                Verdict::Exceeds => return Some(Err(Resource::Memory)),
                Verdict::LookCloser => {}
            }
        }
        Some(look_closer(
            &need()?,
            self.left,
            self.screen.terms(row),
            open,
        ))
    }

    /// The first resource that lacks, if `window` is the first that is open and can tell.
    #[inline]
    fn short_for_sure(&self, row: Row, window: usize) -> Option<Resource> {
        let is_open = |resource: &Resource| self.is_open(row, *resource, window);
        let mut open = Resource::ALL.into_iter().filter(is_open);
        let resource = open.next()?;
        let (from, to) = window_slots(window);
        // Another one could lack in an earlier slot of the window.
        let is_first = to == from + 1 || open.next().is_none();
        let most = self.left.windows().most[resource as usize][window];
        (is_first && self.screen.windows(row, resource)[window] > most).then_some(resource)
    }

    /// Memory slot by slot, in the windows that are open.
    fn compare_memory(&self, row: Row, is_open: impl Fn(usize) -> bool) -> Verdict {
        let need = self.screen.memory_slots(row);
        let of_window = |window| {
            let (from, to) = window_slots(window);
            let need = need.get(from..to.min(need.len())).unwrap_or_default();
            compare_slots(need, self.left.memory_from(from))
        };
        (0..WINDOWS)
            .filter(|window| is_open(*window))
            .map(of_window)
            .fold(Verdict::Fits, Verdict::and)
    }

    fn is_open(&self, row: Row, resource: Resource, window: usize) -> bool {
        let least = self.left.windows().least[resource as usize][window];
        self.screen.windows(row, resource)[window] >= least
    }

    /// The windows in which CPU, network or disk may lack.
    pub(crate) fn delayed_in(&self, row: Row) -> WindowSet {
        if self.screen.is_large_in_cpu(row) {
            return WindowSet::ALL;
        }
        let least = &self.left.windows().least;
        let needs = self.screen.flow_windows(row).iter().zip(self.may_pass);
        let fit = needs
            .zip(Resource::FLOWS)
            .map(|((need, may_pass), resource)| {
                let need = need.map(|need| need.wrapping_add(may_pass));
                below(&need, &least[resource as usize])
            })
            .fold([-1; WINDOWS], both);
        WindowSet::of(|window| fit[window] >= 0)
    }
}

fn look_closer(
    need: &Need<'_>,
    left: &Left,
    terms: Terms,
    look_into: impl Fn(usize) -> bool,
) -> Result<(), Resource> {
    match need.first_short(left, terms, look_into) {
        Some((_, resource)) => Err(resource),
        None => Ok(()),
    }
}

/// For each window less than 0 where `need` stays below `least`. Signs of
/// differences take half the instructions of comparisons.
#[inline]
fn below(need: &Coarse, least: &Coarse) -> Coarse {
    std::array::from_fn(|window| need[window].wrapping_sub(least[window]))
}

/// For each window less than 0 where both are.
#[inline]
fn both(one: Coarse, other: Coarse) -> Coarse {
    std::array::from_fn(|window| one[window] & other[window])
}
