//! Profiles in memory. Those that applications are planned by now are unpacked, too.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{Prediction, Profile, ProfileSettings};
use elastane_runs::{ContainerKind, RunSettings};
use elastane_store::{PackError, PackedDemand};

/// Up to this number unused profiles are not packed again.
const FEW: usize = 16;

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
    /// The demand that containers of a kind are planned by, with its margin.
    kinds: Vec<(ContainerKind, PackedDemand, f64)>,
    /// The number of runs that the profile was made from.
    runs: usize,
    /// The profile holds for submissions that agree with these settings.
    settings: RunSettings,
    /// Unpacked, where an application was planned by it lately.
    demands: Option<Demands>,
}

impl CachedProfile {
    /// A kind whose demand cannot be packed is planned by its request.
    pub(super) fn new(profile: &Profile, made_by: &ProfileSettings, settings: RunSettings) -> Self {
        let key = &profile.key;
        let packed = |(kind, it): (_, &Prediction)| match PackedDemand::pack(&it.demand) {
            Ok(demand) => Some((kind, demand, made_by.margin_at(it.confidence))),
            Err(error) => {
                log::error!(
                    "the profile {key} has no demand of the {kind}, requests are planned by: {error}"
                );
                None
            }
        };
        Self {
            kinds: profile.all_planned().filter_map(packed).collect(),
            runs: profile.runs(),
            settings,
            demands: None,
        }
    }

    /// The demands of all kinds. Takes some 50 us for each kind with runs of half an hour.
    fn unpack(&self, profile: &Arc<str>) -> Result<Demands, PackError> {
        let unpacked = self.kinds.iter().map(|(kind, demand, margin)| {
            let profile = Arc::clone(profile);
            Ok((*kind, Predicted { demand: demand.unpack()?, margin: *margin, profile }))
        });
        unpacked.collect()
    }
}

impl ProfileCache {
    pub(super) fn count(&self) -> usize {
        self.by_key.len()
    }

    /// The number of runs that a profile was made from; 0 where there is none.
    pub(super) fn runs_of(&self, key: &str) -> usize {
        self.by_key.get(key).map_or(0, |entry| entry.runs)
    }

    pub(super) fn insert(&mut self, key: &str, profile: CachedProfile) {
        let former = self.by_key.insert(key.into(), profile);
        self.unpacked -= usize::from(former.is_some_and(|former| former.demands.is_some()));
    }

    /// The demands of a profile that was made for these settings; none where it was not.
    pub(super) fn demands(&mut self, key: &str, given: &RunSettings) -> Result<Demands, PackError> {
        if self.unpacked >= self.full_at.max(FEW) {
            self.drop_unused();
        }
        let entry = self.by_key.get_mut(key);
        let Some(entry) = entry.filter(|entry| entry.settings.agree(given)) else {
            return Ok(Demands::default());
        };
        if let Some(demands) = &entry.demands {
            return Ok(demands.clone());
        }
        let demands = entry.unpack(&key.into())?;
        entry.demands = Some(demands.clone());
        self.unpacked += 1;
        Ok(demands)
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
    use elastane_core::{Demand, Resources};

    const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

    fn insert(cache: &mut ProfileCache, key: &str, cores: f64) {
        let slot = Resources::from_array([cores, 1e9, 0.0, 0.0]);
        let demand = Demand::series(3_000, &[slot]).unwrap();
        let prediction = Prediction {
            mean: demand.clone(),
            demand,
            confidence: 1.0,
            runs: Vec::new(),
            curves: Vec::new(),
        };
        let profile = Profile {
            key: String::new(),
            kinds: [(KIND, Ok(prediction))].into(),
            left_out: Vec::new(),
        };
        cache.insert(
            key,
            CachedProfile::new(&profile, &RuntimeSettings::DEFAULT_PROFILE, RunSettings::default()),
        );
    }

    fn demands(cache: &mut ProfileCache, key: &str) -> Demands {
        cache.demands(key, &RunSettings::default()).unwrap()
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
}
