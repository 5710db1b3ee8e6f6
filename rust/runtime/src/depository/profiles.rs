//! The profiles of all applications, in memory.

use std::collections::BTreeMap;

use elastane_core::cluster::Demands;
use elastane_predict::{
    ContainerKind, Excluded, Exclusion, LOOKED_THROUGH, Others, OthersPlan, Profile,
    ProfileSettings, profile, queue_of,
};
use elastane_runs::{Run, RunSettings};
use elastane_store::{Depository, StoreError};
use parking_lot::Mutex;

use super::models;
use super::profile_cache::{CachedProfile, ProfileCache};

/// The profiles of the applications that ran last are made before the first heartbeat, those of the
/// others in the background. A profile takes some 6 ms, with runs of half an hour 30 ms.
pub(super) const PROFILES_AT_ONCE: usize = 200;

pub(super) struct ProfilesInUse {
    settings: Mutex<ProfileSettings>,
    pub(super) cache: Mutex<ProfileCache>,
    others: Mutex<Others>,
}

impl ProfilesInUse {
    pub(super) fn new(settings: ProfileSettings) -> Self {
        Self { settings: Mutex::new(settings), cache: Mutex::default(), others: Mutex::default() }
    }

    pub(super) fn settings(&self) -> ProfileSettings {
        *self.settings.lock()
    }

    /// Profiles are made by these settings from now on. Returns whether they differ from the former ones.
    pub(super) fn apply_settings(&self, settings: ProfileSettings) -> bool {
        let former = std::mem::replace(&mut *self.settings.lock(), settings);
        former != settings
    }

    /// The demands of a profile that was made for these settings; none where it was not.
    pub(super) fn demands(&self, key: &str, given: &RunSettings, now_ms: i64) -> Demands {
        let demands = self.cache.lock().demands(key, given, now_ms);
        demands.unwrap_or_else(|error| {
            log::error!(
                "the containers of {key} are planned at their requests, since the profile cannot \
                 be read: {error}"
            );
            Demands::default()
        })
    }

    /// What other applications say about one of this queue with these settings, by kind of container.
    pub(super) fn by_others(
        &self,
        queue: Option<&str>,
        given: &RunSettings,
    ) -> BTreeMap<ContainerKind, OthersPlan> {
        if !self.settings().others {
            return BTreeMap::new();
        }
        self.others.lock().plans(queue, given).into_iter().collect()
    }

    /// Makes the profile of an application at the settings of its latest run.
    pub(super) fn make(&self, depository: &Depository, key: &str) -> Result<(), StoreError> {
        let settings = self.settings();
        let all = depository.latest_settings(key, LOOKED_THROUGH)?;
        let Some((_, newest)) = all.first() else {
            return Ok(());
        };
        // Where settings make no difference, runs with any settings make the profile.
        let wanted = (!models::is_indifferent(depository, key)?).then_some(newest);
        let most = settings.runs_looked_at();
        let runs = latest_runs(depository, &all, wanted, most)?;
        if let Some(run) = runs.first().filter(|_| settings.others) {
            let submission = depository.submission(&run.application_id)?;
            let queue = submission.as_ref().and_then(|it| queue_of(&it.signature));
            self.others.lock().ran(run, queue, newest);
        }
        if let Some(profile) = profile(key, &runs, &settings) {
            log_left_out(&profile);
            let used_ms = runs.first().map_or(0, |newest| newest.ended_ms);
            let cached = CachedProfile::new(&profile, &settings, newest.clone(), used_ms);
            self.cache.lock().insert(key, cached);
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
) -> Result<Vec<Run>, StoreError> {
    let agree = |given: &RunSettings| settings.is_none_or(|it| it.agree(given));
    let wanted = newest_first.iter().filter(|(_, given)| agree(given));
    let mut runs = Vec::new();
    for (id, _) in wanted.take(most) {
        runs.extend(depository.run(id)?);
    }
    Ok(runs)
}

fn log_left_out(profile: &Profile) {
    for (kind, Excluded { id, reason }) in &profile.left_out {
        if *reason != Exclusion::Old {
            let key = &profile.key;
            log::info!("the {kind} of the run {id} is not part of the profile {key}: {reason}");
        }
    }
}
