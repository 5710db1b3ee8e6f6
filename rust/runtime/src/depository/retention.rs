//! Removing old runs.

use elastane_store::{Depository, Pruned, Pruning, Retention, StoreError};

/// The unit of the setting.
pub(crate) const MB: u64 = 1_000_000;

/// Removes old runs in steps.
pub(super) struct Pruner {
    retention: Retention,
    pruning: Option<Pruning>,
}

impl Pruner {
    pub(super) fn new(retention: Retention) -> Self {
        Self {
            retention,
            pruning: None,
        }
    }

    pub(super) fn start(&mut self, now_ms: i64) {
        self.pruning = Some(Pruning::new(self.retention, now_ms));
    }

    pub(super) fn is_pruning(&self) -> bool {
        self.pruning.is_some()
    }

    /// After an error nothing more is removed until the next start.
    pub(super) fn step(&mut self, depository: &mut Depository) -> Result<(), StoreError> {
        let Some(mut pruning) = self.pruning.take() else {
            return Ok(());
        };
        match pruning.step(depository)? {
            None => self.pruning = Some(pruning),
            Some(pruned) => announce(pruned, &self.retention),
        }
        Ok(())
    }
}

fn announce(pruned: Pruned, retention: &Retention) {
    let Pruned {
        old_runs,
        spare_runs,
        profile_runs,
    } = pruned;
    if pruned.runs() > 0 {
        log::info!(
            "removed {old_runs} old runs and, for want of space, {spare_runs} others and \
             {profile_runs} that made profiles"
        );
    }
    if profile_runs > 0 {
        log::warn!(
            "yarn.scheduler.elastane.depository.max-mb is {}, too small for the profiles of all \
             applications: those that ran longest ago are forgotten",
            retention.most_bytes / MB
        );
    }
}
