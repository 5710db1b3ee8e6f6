//! Profiles in memory. Those that applications are planned by now are unpacked, too.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::StageEnds;
use elastane_core::cluster::{Basis, Demands, Predicted};
use elastane_predict::{Prediction, Profile, ProfileSettings, RunLength};
use elastane_runs::{ContainerKind, RunSettings};
use elastane_store::{PackError, PackedDemand};

/// Up to this number unused profiles are not packed again.
const FEW: usize = 16;

/// At most so many profiles are in memory; a profile is about 2 KB. An application without one is planned at its
/// request for the moment that its prediction takes.
pub(super) const MOST_PROFILES: usize = 20_000;

/// A profile that no application used for so long leaves memory: a month and some days, for monthly runs.
const KEPT_FOR_MS: i64 = 40 * 24 * 3_600_000;

/// Applications with the same profile share its series ([`elastane_core::Demand`] is cheap to clone):
/// a round screens 10,000 waiting applications by one series.
#[derive(Default)]
pub(super) struct ProfileCache {
    by_key: HashMap<Arc<str>, CachedProfile>,
    unpacked: usize,
    /// At this number of unpacked profiles, the demands of unused ones are dropped.
    full_at: usize,
}

/// The profile of an application at the settings of its latest run. Every application that ever ran
/// has one, so demands are packed.
pub(super) struct CachedProfile {
    kinds: Vec<PlannedKind>,
    length: Option<RunLength>,
    /// The number of runs that the profile was made from.
    runs: usize,
    /// The profile holds for submissions that agree with these settings.
    settings: RunSettings,
    /// Unpacked, where an application was planned by it lately.
    demands: Option<Demands>,
    /// When its newest run ended, or an application was last planned by it.
    used_ms: i64,
}

/// What containers of a kind are planned by.
#[derive(Debug, Clone)]
pub(crate) struct PlannedKind {
    pub(crate) kind: ContainerKind,
    pub(crate) demand: PackedDemand,
    /// Of the prediction, 0 to 1.
    pub(crate) confidence: f64,
    /// The fraction that is added to the demand.
    pub(crate) margin: f64,
    pub(crate) stage_ends: StageEnds,
}

/// A profile as it is in memory, for people.
#[derive(Debug)]
pub(crate) struct ProfileOverview {
    pub(crate) key: Arc<str>,
    pub(crate) runs: usize,
    pub(crate) length: Option<RunLength>,
    pub(crate) used_ms: i64,
    pub(crate) kinds: Vec<PlannedKind>,
}

impl CachedProfile {
    /// A kind whose demand cannot be packed is planned by its request.
    pub(super) fn new(
        profile: &Profile,
        made_by: &ProfileSettings,
        settings: RunSettings,
        used_ms: i64,
    ) -> Self {
        let key = &profile.key;
        let packed = |(kind, it): (_, &Prediction)| match PackedDemand::pack(&it.demand) {
            Ok(demand) => {
                let (confidence, margin) = (it.confidence, made_by.margin_at(it.confidence));
                let stage_ends = it.stage_ends.clone();
                Some(PlannedKind { kind, demand, confidence, margin, stage_ends })
            }
            Err(error) => {
                log::error!(
                    "the {kind} of {key} is planned at its request, since its demand cannot be \
                     stored: {error}"
                );
                None
            }
        };
        Self {
            kinds: profile.all_planned().filter_map(packed).collect(),
            length: profile.length(),
            runs: profile.runs(),
            settings,
            demands: None,
            used_ms,
        }
    }

    /// The demands of all kinds. Takes some 50 us for each kind with runs of half an hour.
    fn unpack(&self, profile: &Arc<str>) -> Result<Demands, PackError> {
        let unpacked = self.kinds.iter().map(|it| {
            let predicted = Predicted {
                demand: it.demand.unpack()?,
                margin: it.margin,
                basis: Basis::Profile(Arc::clone(profile)),
                stage_ends: it.stage_ends.clone(),
            };
            Ok((it.kind, predicted))
        });
        unpacked.collect()
    }
}

impl ProfileCache {
    pub(super) fn count(&self) -> usize {
        self.by_key.len()
    }

    /// When each profile was last used, and its key.
    pub(super) fn used(&self) -> Vec<(i64, Arc<str>)> {
        self.by_key.iter().map(|(key, entry)| (entry.used_ms, Arc::clone(key))).collect()
    }

    /// None where it has left memory.
    pub(super) fn overview(&self, key: &Arc<str>) -> Option<ProfileOverview> {
        let entry = self.by_key.get(key)?;
        Some(ProfileOverview {
            key: Arc::clone(key),
            runs: entry.runs,
            length: entry.length,
            used_ms: entry.used_ms,
            kinds: entry.kinds.clone(),
        })
    }

    /// The number of runs that a profile was made from; 0 where there is none.
    pub(super) fn runs_of(&self, key: &str) -> usize {
        self.by_key.get(key).map_or(0, |entry| entry.runs)
    }

    /// See [`Profile::length`]; none where there is no profile for these settings.
    pub(super) fn length(&self, key: &str, given: &RunSettings) -> Option<RunLength> {
        self.by_key.get(key).filter(|entry| entry.settings.agree(given))?.length
    }

    /// Above [`MOST_PROFILES`], those that were used longest ago leave memory.
    pub(super) fn insert(&mut self, key: &str, profile: CachedProfile) {
        let former = self.by_key.insert(key.into(), profile);
        self.unpacked -= usize::from(former.is_some_and(|former| former.demands.is_some()));
        if self.by_key.len() > MOST_PROFILES {
            self.drop_oldest(MOST_PROFILES / 4);
        }
    }

    /// So many at once that a call of [`Self::insert`] takes constant time on average.
    fn drop_oldest(&mut self, count: usize) {
        let mut by_age: Vec<_> =
            self.by_key.iter().map(|(key, entry)| (entry.used_ms, Arc::clone(key))).collect();
        by_age.select_nth_unstable(count);
        for (_, key) in by_age.iter().take(count) {
            let dropped = self.by_key.remove(key);
            self.unpacked -= usize::from(dropped.is_some_and(|it| it.demands.is_some()));
        }
    }

    /// Drops the profiles that were not used for a long time.
    pub(super) fn drop_old(&mut self, now_ms: i64) {
        let since_ms = now_ms.saturating_sub(KEPT_FOR_MS);
        self.by_key.retain(|_, entry| entry.used_ms >= since_ms);
        self.unpacked = self.by_key.values().filter(|entry| entry.demands.is_some()).count();
    }

    /// The demands of a profile that was made for these settings; none where it was not.
    pub(super) fn demands(
        &mut self,
        key: &str,
        given: &RunSettings,
        now_ms: i64,
    ) -> Result<Demands, PackError> {
        if self.unpacked >= self.full_at.max(FEW) {
            self.drop_unused();
        }
        let entry = self.by_key.get_mut(key);
        let Some(entry) = entry.filter(|entry| entry.settings.agree(given)) else {
            return Ok(Demands::default());
        };
        entry.used_ms = entry.used_ms.max(now_ms);
        if let Some(demands) = &entry.demands {
            return Ok(demands.clone());
        }
        let demands = entry.unpack(&key.into())?;
        entry.demands = Some(demands.clone());
        self.unpacked += 1;
        Ok(demands)
    }

    /// The same for people, who do not use the profile; none where it cannot be read.
    pub(super) fn look_at_demands(&self, key: &str, given: &RunSettings) -> Demands {
        let entry = self.by_key.get(key).filter(|entry| entry.settings.agree(given));
        let unpacked = |entry: &CachedProfile| match &entry.demands {
            Some(demands) => Some(demands.clone()),
            None => entry.unpack(&key.into()).ok(),
        };
        entry.and_then(unpacked).unwrap_or_default()
    }

    fn drop_unused(&mut self) {
        self.unpacked = 0;
        for entry in self.by_key.values_mut() {
            entry.demands.take_if(|demands| !demands.are_shared());
            self.unpacked += usize::from(entry.demands.is_some());
        }
        // So often that a call takes constant time on average.
        self.full_at = self.unpacked * 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RuntimeSettings;
    use elastane_core::{Demand, Resources, StageEnds};

    const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

    fn insert(cache: &mut ProfileCache, key: &str, cores: f64) {
        insert_at(cache, key, cores, 0);
    }

    fn insert_at(cache: &mut ProfileCache, key: &str, cores: f64, used_ms: i64) {
        let slot = Resources::from_array([cores, 1e9, 0.0, 0.0]);
        let demand = Demand::series(3_000, &[slot]).unwrap();
        let prediction = Prediction {
            mean: demand.clone(),
            demand,
            confidence: 1.0,
            runs: Vec::new(),
            curves: Vec::new(),
            stage_ends: StageEnds::default(),
        };
        let profile = Profile {
            key: String::new(),
            kinds: [(KIND, Ok(prediction))].into(),
            left_out: Vec::new(),
        };
        let made_by = &RuntimeSettings::DEFAULT_PROFILE;
        let cached = CachedProfile::new(&profile, made_by, RunSettings::default(), used_ms);
        cache.insert(key, cached);
    }

    fn demands(cache: &mut ProfileCache, key: &str) -> Demands {
        cache.demands(key, &RunSettings::default(), 0).unwrap()
    }

    /// Where the series of the one kind lies.
    fn series(demands: &Demands) -> *const Resources {
        demands.of(KIND).unwrap().demand.slots().as_ptr()
    }

    #[test]
    fn applications_of_one_profile_share_its_series() {
        let mut cache = ProfileCache::default();
        insert(&mut cache, "key", 1.0);
        let [one, other] = [0, 1].map(|_| demands(&mut cache, "key"));
        assert_eq!(series(&one), series(&other));
    }

    #[test]
    fn a_profile_that_was_made_anew_takes_the_place_of_the_former() {
        let mut cache = ProfileCache::default();
        let made = [1.0, 2.0].map(|cores| {
            insert(&mut cache, "key", cores);
            demands(&mut cache, "key")
        });
        let cores = |it: &Demands| it.of(KIND).unwrap().demand.peak().cpu_cores;
        assert_eq!(made.each_ref().map(cores), [1.0, 2.0]);
        assert_eq!((cache.count(), cache.unpacked), (1, 1));
    }

    #[test]
    fn what_nobody_uses_any_more_is_dropped_and_what_somebody_uses_stays() {
        let mut cache = ProfileCache::default();
        insert(&mut cache, "used", 1.0);
        let used = demands(&mut cache, "used");
        for number in 0..1_000 {
            insert(&mut cache, &format!("key {number}"), 1.0);
            demands(&mut cache, &format!("key {number}"));
            assert!(cache.unpacked <= FEW + 1);
        }
        assert_eq!(series(&demands(&mut cache, "used")), series(&used));
        let held: Vec<Demands> =
            (0..1_000).map(|number| demands(&mut cache, &format!("key {number}"))).collect();
        assert_eq!(cache.unpacked, 1_001);
        drop(held);
        for number in 0..1_100 {
            insert(&mut cache, &format!("later {number}"), 1.0);
            demands(&mut cache, &format!("later {number}"));
        }
        assert!(cache.unpacked <= FEW + 1, "{}", cache.unpacked);
    }

    #[test]
    fn a_profile_that_nobody_used_for_forty_days_leaves_memory() {
        let mut cache = ProfileCache::default();
        insert_at(&mut cache, "old", 1.0, 0);
        insert_at(&mut cache, "used", 1.0, 0);
        demands(&mut cache, "old");
        cache.demands("used", &RunSettings::default(), 1).unwrap();
        cache.drop_old(KEPT_FOR_MS);
        assert_eq!(cache.count(), 2);
        cache.drop_old(KEPT_FOR_MS + 1);
        assert_eq!((cache.count(), cache.unpacked), (1, 1));
        assert_ne!(demands(&mut cache, "used"), Demands::default());
    }

    #[test]
    fn of_very_many_profiles_those_used_longest_ago_leave_memory() {
        let mut cache = ProfileCache::default();
        for number in 0..100_000 {
            insert_at(&mut cache, &format!("key {number}"), 1.0, number);
            assert!(cache.count() <= MOST_PROFILES);
        }
        assert!(cache.count() > MOST_PROFILES / 2);
        assert!(cache.by_key.contains_key("key 99999"));
        assert!(!cache.by_key.contains_key("key 0"));
    }
}
