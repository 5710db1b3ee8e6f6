//! Unpacked profiles of the applications that are planned by them now.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::cluster::Demands;
use elastane_store::PackError;

use super::packed_profile::PackedProfile;

/// Up to this number unused ones are not dropped.
const FEW: usize = 16;

/// Applications with the same profile share its series ([`elastane_core::Demand`] is cheap to clone):
/// a round screens 10,000 waiting applications by one series.
#[derive(Default)]
pub(super) struct InUse {
    by_key: HashMap<Arc<str>, Unpacked>,
    /// At this number the unused ones are dropped.
    full_at: usize,
}

struct Unpacked {
    known: Arc<PackedProfile>,
    demands: Demands,
}

impl InUse {
    /// The demands of a profile, unpacked for the first application that uses them.
    pub(super) fn demands(
        &mut self,
        key: &str,
        known: &Arc<PackedProfile>,
    ) -> Result<Demands, PackError> {
        if let Some(unpacked) = self.by_key.get(key)
            && Arc::ptr_eq(&unpacked.known, known)
        {
            return Ok(unpacked.demands.clone());
        }
        if self.by_key.len() >= self.full_at.max(FEW) {
            self.by_key
                .retain(|_, unpacked| unpacked.demands.are_shared());
            // Amortized: each entry is looked at once or twice per insertion.
            self.full_at = self.by_key.len() * 2;
        }
        let profile: Arc<str> = key.into();
        let demands = known.unpack(&profile)?;
        let unpacked = Unpacked {
            known: Arc::clone(known),
            demands: demands.clone(),
        };
        self.by_key.insert(profile, unpacked);
        Ok(demands)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elastane_core::{Demand, Resources};
    use elastane_predict::{Planned, Profile};
    use elastane_runs::{ContainerKind, RunSettings};

    const KIND: ContainerKind = ContainerKind::DEFAULT_EXECUTOR;

    fn known(cores: f64) -> Arc<PackedProfile> {
        let slot = Resources::from_array([cores, 1e9, 0.0, 0.0]);
        let planned = Planned {
            demand: Demand::series(3_000, &[slot]).unwrap(),
            margin: 0.1,
            confidence: 1.0,
            runs: Vec::new(),
        };
        let profile = Profile {
            key: String::new(),
            kinds: [(KIND, Ok(planned))].into(),
            left_out: Vec::new(),
        };
        Arc::new(PackedProfile::new(&profile, RunSettings::default()))
    }

    /// Where the series of the one kind lies.
    fn series(demands: &Demands) -> *const Resources {
        demands.of(KIND).unwrap().demand.slots().as_ptr()
    }

    #[test]
    fn applications_of_one_profile_share_its_series() {
        let (mut in_use, known) = (InUse::default(), known(1.0));
        let [one, other] = [0, 1].map(|_| in_use.demands("key", &known).unwrap());
        assert_eq!(series(&one), series(&other));
    }

    #[test]
    fn a_profile_that_was_made_anew_takes_the_place_of_the_former() {
        let mut in_use = InUse::default();
        let former = in_use.demands("key", &known(1.0)).unwrap();
        let newer = in_use.demands("key", &known(2.0)).unwrap();
        let cores = |it: &Demands| it.of(KIND).unwrap().demand.peak().cpu_cores;
        assert_eq!([&former, &newer].map(cores), [1.0, 2.0]);
    }

    #[test]
    fn what_nobody_uses_any_more_is_dropped_and_what_somebody_uses_stays() {
        let (mut in_use, known) = (InUse::default(), known(1.0));
        let used = in_use.demands("used", &known).unwrap();
        for number in 0..1_000 {
            in_use.demands(&format!("key {number}"), &known).unwrap();
            assert!(in_use.by_key.len() <= FEW + 1);
        }
        assert_eq!(
            series(&in_use.demands("used", &known).unwrap()),
            series(&used)
        );
        let held: Vec<Demands> = (0..1_000)
            .map(|number| in_use.demands(&format!("key {number}"), &known).unwrap())
            .collect();
        assert_eq!(in_use.by_key.len(), 1_001);
        drop(held);
        for number in 0..1_100 {
            in_use.demands(&format!("later {number}"), &known).unwrap();
        }
        assert!(in_use.by_key.len() <= FEW + 1, "{}", in_use.by_key.len());
    }
}
