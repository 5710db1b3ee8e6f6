//! Profiles in memory.

use std::sync::Arc;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{Planned, Profile};
use elastane_runs::{ContainerKind, RunSettings};
use elastane_store::{PackError, PackedDemand};

/// The profile of an application at the settings of its latest run. Every application that ever ran
/// has one, so demands are packed.
pub(super) struct PackedProfile {
    kinds: Vec<(ContainerKind, PackedPlan)>,
    /// The number of runs that the profile was made from.
    pub(super) runs: usize,
    /// The profile holds for submissions that agree with these settings.
    pub(super) settings: RunSettings,
}

/// The demand that containers of one kind are planned by.
pub(super) struct PackedPlan {
    demand: PackedDemand,
    margin: f64,
}

impl PackedProfile {
    /// A kind whose demand cannot be packed is planned by its request.
    pub(super) fn new(profile: &Profile, settings: RunSettings) -> Self {
        let key = &profile.key;
        let packed = |(kind, planned)| match PackedPlan::new(planned) {
            Ok(packed) => Some((kind, packed)),
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
        }
    }

    /// The demands of all kinds. Takes some 50 us for each kind with runs of half an hour.
    pub(super) fn unpack(&self, profile: &Arc<str>) -> Result<Demands, PackError> {
        let unpacked = self
            .kinds
            .iter()
            .map(|(kind, packed)| Ok((*kind, packed.unpack(profile)?)));
        unpacked.collect()
    }
}

impl PackedPlan {
    pub(super) fn new(planned: &Planned) -> Result<Self, PackError> {
        Ok(Self {
            demand: PackedDemand::pack(&planned.demand)?,
            margin: planned.margin,
        })
    }

    pub(super) fn unpack(&self, profile: &Arc<str>) -> Result<Predicted, PackError> {
        Ok(Predicted {
            demand: self.demand.unpack()?,
            margin: self.margin,
            profile: Arc::clone(profile),
        })
    }
}
