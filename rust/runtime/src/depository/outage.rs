//! Failures to save, for the log.

use elastane_store::StoreError;

/// Logs the first failure to save some records, and the first success after it.
pub(super) struct Outage {
    /// The records, in the plural.
    pub(super) of: &'static str,
    pub(super) lasts: bool,
}

impl Outage {
    pub(super) fn new(of: &'static str) -> Self {
        Self { of, lasts: false }
    }

    pub(super) fn tell(&mut self, saved: &Result<(), StoreError>) {
        let lasted = std::mem::replace(&mut self.lasts, saved.is_err());
        match saved {
            Ok(()) if lasted => log::warn!("{} are saved again", self.of),
            Err(error) if !lasted => log::error!(
                "{} are not saved, scheduling goes on and saving is tried again: {error}",
                self.of
            ),
            _ => {}
        }
    }
}
