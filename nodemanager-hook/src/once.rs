//! Troubles that recur: logged once, always counted.

use std::collections::BTreeMap;

/// Counts troubles by kind and logs the first of each kind as a warning.
#[derive(Debug, Default)]
pub struct Once {
    counts: BTreeMap<&'static str, u64>,
}

impl Once {
    /// Counts one trouble of `kind`.
    pub fn warn(&mut self, kind: &'static str, message: impl std::fmt::Display) {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        if *count == 1 {
            log::warn!("{message} (logged once for: {kind})");
        } else {
            log::debug!("{message} ({kind}, {count} times)");
        }
    }

    /// All kinds with their counts.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }
}
