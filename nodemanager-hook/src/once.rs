//! Things that go wrong again and again: said once, counted always.

use std::collections::BTreeMap;

/// Counts occurrences by kind and logs the first of each.
#[derive(Debug, Default)]
pub struct Once {
    counts: BTreeMap<&'static str, u64>,
}

impl Once {
    /// Counts one of `kind`; the first one is logged as a warning with `message`.
    pub fn warn(&mut self, kind: &'static str, message: impl std::fmt::Display) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count == 1 {
            log::warn!("{message} (said once for: {kind})");
        } else {
            log::debug!("{message} ({kind}, {count} times)");
        }
    }

    /// What was counted, as `kind: count` pairs.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }
}
