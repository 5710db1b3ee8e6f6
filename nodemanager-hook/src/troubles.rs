//! Troubles that recur: logged once, always counted.

use std::{collections::BTreeMap, fmt::Display, sync::Arc};

use parking_lot::Mutex;

/// Counts troubles by kind and logs the first of each kind as a warning. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Troubles(Arc<Mutex<BTreeMap<&'static str, u64>>>);

impl Troubles {
    /// Counts one trouble of `kind`.
    pub fn warn(&self, kind: &'static str, message: impl Display) {
        self.warn_many(kind, 1, message);
    }

    /// Counts several troubles of `kind` that one message tells.
    pub fn warn_many(&self, kind: &'static str, more: u64, message: impl Display) {
        let mut counts = self.0.lock();
        let count = counts.entry(kind).or_default();
        let is_first = *count == 0;
        *count += more;
        if is_first {
            log::warn!("{message} (logged once for: {kind})");
        } else {
            log::debug!("{message} ({kind}, {count} times)");
        }
    }

    /// Counts an error as a trouble of `kind`, or returns the value.
    pub fn check<T, E: Display>(&self, kind: &'static str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.warn(kind, error)).ok()
    }

    /// [`Self::check`], with `of` before the message.
    pub fn check_of<T, E: Display>(
        &self,
        kind: &'static str,
        of: impl Display,
        result: Result<T, E>,
    ) -> Option<T> {
        self.check(kind, result.map_err(|error| format!("{of}: {error}")))
    }

    /// All kinds with their counts.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().clone()
    }
}
