//! The profiles of all applications, in memory.

use elastane_core::cluster::Demands;
use elastane_predict::{
    Exclusion, GivenRun, LOOKED_THROUGH, NotUsed, Profile, ProfileSettings, profile,
};
use elastane_runs::RunSettings;
use elastane_store::{Depository, StoreError};
use parking_lot::Mutex;

use super::models;
use super::packed_profile::PackedProfile;
use super::profile_cache::ProfileCache;

pub(super) struct Profiles {
    pub(super) settings: ProfileSettings,
    pub(super) cache: Mutex<ProfileCache>,
}

impl Profiles {
    pub(super) fn new(settings: ProfileSettings) -> Self {
        Self { settings, cache: Mutex::default() }
    }

    /// The demands of a profile that was made for these settings; none where it was not.
    pub(super) fn demands(&self, key: &str, given: &RunSettings) -> Demands {
        let demands = self.cache.lock().demands(key, given);
        demands.unwrap_or_else(|error| {
            log::error!("requests of {key} are planned by: {error}");
            Demands::default()
        })
    }

    /// Makes the profile of an application at the settings of its latest run.
    pub(super) fn make(&self, depository: &Depository, key: &str) -> Result<(), StoreError> {
        let all = depository.latest_settings(key, LOOKED_THROUGH)?;
        let Some((_, newest)) = all.first() else {
            return Ok(());
        };
        // Where settings make no difference, runs with any settings make the profile.
        let wanted = (!models::is_indifferent(depository, key)?).then_some(newest);
        let most = self.settings.runs_looked_at();
        let runs = latest_runs(depository, &all, wanted, most)?;
        let runs: Vec<_> = runs.into_iter().map(|given| given.run).collect();
        if let Some(profile) = profile(key, &runs, &self.settings) {
            log_left_out(&profile);
            let packed = PackedProfile::new(&profile, newest.clone());
            self.cache.lock().insert(key, packed);
        }
        Ok(())
    }
}

/// The latest of these runs; those that agree with the settings where some are given.
pub(super) fn latest_runs(
    depository: &Depository,
    newest_first: &[(String, RunSettings)],
    settings: Option<&RunSettings>,
    most: usize,
) -> Result<Vec<GivenRun>, StoreError> {
    let agree = |given: &RunSettings| settings.is_none_or(|it| it.agree(given));
    let wanted = newest_first.iter().filter(|(_, given)| agree(given));
    let mut runs = Vec::new();
    for (id, settings) in wanted.take(most) {
        if let Some(run) = depository.run(id)? {
            let settings = settings.clone();
            runs.push(GivenRun { run, settings });
        }
    }
    Ok(runs)
}

fn log_left_out(profile: &Profile) {
    for left_out in &profile.left_out {
        if left_out.reason != NotUsed::Excluded(Exclusion::Old) {
            log::info!(
                "the {} of the run {} is not part of the profile {}: {}",
                left_out.kind,
                left_out.application_id,
                profile.key,
                left_out.reason
            );
        }
    }
}
