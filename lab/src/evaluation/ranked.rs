//! The values of all runs' slots, sorted once, so that no window sorts its own.

use super::window::Window;

/// The values of one resource in ascending order: each slot of each run at each factor.
pub(super) struct Ranked {
    /// Value and slot, in the runs' concatenated numbering.
    values: Vec<(f64, u32)>,
    /// The places of a slot's values.
    places: Vec<[u32; 5]>,
    /// One bit for each value, all 0 between two windows.
    taken: Vec<u64>,
}

impl Ranked {
    pub(super) fn new(used: impl Iterator<Item = f64>, factors: [f64; 5]) -> Self {
        let mut used: Vec<(f64, u32)> = used.zip(0..).collect();
        used.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Each factor's values are ascending, so the stable sort only merges five sequences.
        let mut values: Vec<(f64, u32, u8)> = Vec::with_capacity(used.len() * factors.len());
        for (factor, number) in factors.into_iter().zip(0..) {
            values.extend(
                used.iter()
                    .map(|(used, slot)| (used * factor, *slot, number)),
            );
        }
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut places = vec![[0; 5]; used.len()];
        for ((_, slot, factor), place) in values.iter().zip(0..) {
            places[*slot as usize][usize::from(*factor)] = place;
        }
        Self {
            taken: vec![0; values.len().div_ceil(64)],
            values: values
                .into_iter()
                .map(|(value, slot, _)| (value, slot))
                .collect(),
            places,
        }
    }

    /// The values of a window's slots in ascending order, with their weights. The caller must consume
    /// all: the next window would inherit the rest.
    pub(super) fn ascending(&mut self, window: &Window) -> impl Iterator<Item = (f64, f64)> {
        for slot in window.slots() {
            for place in self.places[*slot] {
                self.taken[place as usize / 64] |= 1 << (place % 64);
            }
        }
        let values = &self.values;
        let words = self.taken.iter_mut().map(std::mem::take);
        words.enumerate().flat_map(move |(at, mut word)| {
            std::iter::from_fn(move || {
                if word == 0 {
                    return None;
                }
                let (value, slot) = values[at * 64 + word.trailing_zeros() as usize];
                word &= word - 1;
                Some((value, window.weight(slot as usize)))
            })
        })
    }
}
