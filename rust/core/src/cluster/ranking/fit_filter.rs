//! Whether a row fits a node: bounds decide most rows, and [`Fit`] decides the rest.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::cluster::waiting::{Outline, Row, Screen};
use crate::fit::Fit;
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::need::{Need, Series};
use crate::resources::Resource;
use crate::windows::{Coarse, Verdict, WINDOWS, compare_slots, window_slots};

/// From this length in slots on, a round caches the result of a series, since recurring
/// applications share their series. Caching shorter series costs as much as comparing them.
const REMEMBERED_FROM_SLOTS: usize = 256;

/// Compares all rows with the resources left on one node.
pub(crate) struct FitFilter<'a> {
    screen: &'a Screen,
    left: &'a Left,
    /// Left of each resource in the first slot.
    at_first: [i32; 4],
    /// Least left of each resource in any slot.
    least_ever: [i32; 4],
    /// Cached results of comparing a series slot by slot.
    remembered: HashMap<Series, Result<(), Resource>>,
}

impl<'a> FitFilter<'a> {
    pub(crate) fn new(screen: &'a Screen, left: &'a Left) -> Self {
        let least = left.least_in_windows();
        Self {
            screen,
            left,
            at_first: least.map(|windows| windows[0]),
            least_ever: least.map(|windows| windows.into_iter().fold(i32::MAX, i32::min)),
            remembered: HashMap::new(),
        }
    }

    pub(crate) fn screen(&self) -> &'a Screen {
        self.screen
    }

    /// Whether the row's next container fits, or else the first resource that lacks. `need` is called
    /// only if the bounds cannot decide.
    #[inline]
    pub(crate) fn check<'b>(
        &mut self,
        row: Row,
        need: impl FnOnce() -> Need<'b>,
    ) -> Result<(), Resource> {
        let Some(life) = self.screen.life(row) else {
            let available = self.left.least().plus(self.left.tolerance());
            let fits = self.screen.needs(row).in_total.max(available) == available;
            return if fits { Ok(()) } else { self.fit_in_every_slot(row, &need(), |_| true) };
        };
        self.decide_by_outline(row).unwrap_or_else(|| self.decide_by_windows(row, need))?;
        let fit = Fit::now(self.left, self.screen.terms(row));
        let short = fit.shortage_in_total(life, self.screen.needs(row).in_total);
        short.map_or(Ok(()), Err)
    }

    /// The result of [`FitFilter::decide_by_windows`], if the outline alone decides.
    #[inline]
    fn decide_by_outline(&self, row: Row) -> Option<Result<(), Resource>> {
        let Outline { at_first, at_most } = self.screen.outline(row);
        for (i, resource) in Resource::ALL.into_iter().enumerate() {
            match at_first[i].cmp(&self.at_first[i]) {
                Ordering::Greater => return Some(Err(resource)),
                Ordering::Equal => return None,
                Ordering::Less => {}
            }
        }
        let fits = (0..4).fold(-1, |fits, i| fits & at_most[i].wrapping_sub(self.least_ever[i]));
        (fits < 0).then_some(Ok(()))
    }

    /// Compares every resource in every slot; the earliest shortage decides.
    #[inline]
    fn decide_by_windows<'b>(
        &mut self,
        row: Row,
        need: impl FnOnce() -> Need<'b>,
    ) -> Result<(), Resource> {
        let least = self.left.least_in_windows();
        let windows = self.screen.windows(row);
        let below_least = |resource| below(&windows[resource as usize], &least[resource as usize]);
        let memory = below_least(Resource::Memory);
        let others = Resource::FLOWS.into_iter().map(below_least);
        let others = others.fold([-1; WINDOWS], both);
        let Some(first) = both(memory, others).iter().position(|below| *below >= 0) else {
            return Ok(());
        };
        if let Some(resource) = self.certain_shortage(row, first) {
            return Err(resource);
        }
        let open = |window: usize| memory[window] >= 0 || others[window] >= 0;
        let memory_alone = others.iter().all(|below| *below < 0);
        let is_short = |life| life < REMEMBERED_FROM_SLOTS;
        if self.screen.life(row).is_none_or(is_short) {
            return self.decide_by_slots(row, memory_alone, open, need);
        }
        let need = need();
        let series = need.series();
        if let Some(known) = self.remembered.get(&series) {
            return *known;
        }
        let short = self.decide_by_slots(row, memory_alone, open, || need);
        self.remembered.insert(series, short);
        short
    }

    /// Compares slot by slot in the open windows: those that the window bounds left undecided.
    fn decide_by_slots<'b>(
        &self,
        row: Row,
        memory_alone: bool,
        open: impl Fn(usize) -> bool,
        need: impl FnOnce() -> Need<'b>,
    ) -> Result<(), Resource> {
        if memory_alone {
            match self.compare_memory(row, &open) {
                Verdict::Fits => return Ok(()),
                Verdict::Exceeds => return Err(Resource::Memory),
                Verdict::Unclear => {}
            }
        }
        self.fit_in_every_slot(row, &need(), open)
    }

    fn fit_in_every_slot(
        &self,
        row: Row,
        need: &Need<'_>,
        is_open_window: impl Fn(usize) -> bool,
    ) -> Result<(), Resource> {
        let short = need.first_shortage(self.left, self.screen.terms(row), is_open_window);
        short.map_or(Ok(()), |(_, resource)| Err(resource))
    }

    /// The first resource that lacks, if `window`, the first open one, proves the shortage.
    #[inline]
    fn certain_shortage(&self, row: Row, window: usize) -> Option<Resource> {
        let is_open = |resource: &Resource| self.is_open(row, *resource, window);
        let mut open = Resource::ALL.into_iter().filter(is_open);
        let resource = open.next()?;
        let (from, to) = window_slots(window);
        // Otherwise another resource could lack in an earlier slot of the window.
        let is_first = to == from + 1 || open.next().is_none();
        let most = self.left.most_in_windows()[resource as usize][window];
        (is_first && self.screen.windows(row)[resource as usize][window] > most).then_some(resource)
    }

    /// Compares memory slot by slot in the open windows.
    fn compare_memory(&self, row: Row, is_open: impl Fn(usize) -> bool) -> Verdict {
        let need = &self.screen.needs(row).memory_slots;
        let of_window = |window| {
            let (from, to) = window_slots(window);
            let need = need.get(from..to.min(need.len())).unwrap_or_default();
            compare_slots(need, self.left.memory_from(from))
        };
        let open = (0..WINDOWS).filter(|window| is_open(*window));
        open.map(of_window).max().unwrap_or(Verdict::Fits)
    }

    fn is_open(&self, row: Row, resource: Resource, window: usize) -> bool {
        let least = self.left.least_in_windows()[resource as usize][window];
        self.screen.windows(row)[resource as usize][window] >= least
    }
}

/// Negative for each window in which `need` stays below `least`. The sign of a difference takes
/// half the instructions of a comparison.
#[inline]
fn below(need: &Coarse, least: &Coarse) -> Coarse {
    std::array::from_fn(|window| need[window].wrapping_sub(least[window]))
}

/// Negative for each window in which both are negative.
#[inline]
fn both(one: Coarse, other: Coarse) -> Coarse {
    std::array::from_fn(|window| one[window] & other[window])
}
