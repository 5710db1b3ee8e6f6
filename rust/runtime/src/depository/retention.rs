//! Removing old runs.

use elastane_store::{Depository, Pruning, Retention, StoreError};

use crate::settings::MB;

/// Removes some old runs; returns the pruning while it is unfinished. An error ends this pruning; the next one
/// begins within an hour.
pub(super) fn step(
    mut pruning: Pruning,
    depository: &mut Depository,
    retention: &Retention,
) -> Result<Option<Pruning>, StoreError> {
    let Some(pruned) = pruning.step(depository)? else {
        return Ok(Some(pruning));
    };
    if pruned.runs() > 0 {
        log::info!(
            "removed {} old runs and, for want of space, {} others and {} that made profiles",
            pruned.old_runs,
            pruned.spare_runs,
            pruned.profile_runs
        );
    }
    if pruned.profile_runs > 0 {
        log::warn!(
            "yarn.scheduler.elastane.depository.max-mb is {}, too small for the profiles of all \
             applications: those that ran longest ago are forgotten",
            retention.most_bytes / MB
        );
    }
    Ok(None)
}
