//! Profiles in memory.

use std::sync::Arc;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{Planned, Profile};
use elastane_runs::{ContainerKind, RunSettings};
use elastane_store::{PackError, PackedDemand};

/// The profile of an application at the settings of its latest run. Every application that ever ran
/// has one, so demands are packed.
pub(super) struct PackedProfile {
    /// The demand that containers of a kind are planned by, with its margin.
    kinds: Vec<(ContainerKind, PackedDemand, f64)>,
    /// The number of runs that the profile was made from.
    pub(super) runs: usize,
    /// The profile holds for submissions that agree with these settings.
    pub(super) settings: RunSettings,
}

impl PackedProfile {
    /// A kind whose demand cannot be packed is planned by its request.
    pub(super) fn new(profile: &Profile, settings: RunSettings) -> Self {
        let key = &profile.key;
        let packed = |(kind, planned): (_, &Planned)| match PackedDemand::pack(&planned.demand) {
            Ok(demand) => Some((kind, demand, planned.margin)),
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
        let unpacked = self.kinds.iter().map(|(kind, demand, margin)| {
            let predicted = Predicted {
                demand: demand.unpack()?,
                margin: *margin,
                profile: Arc::clone(profile),
            };
            Ok((*kind, predicted))
        });
        unpacked.collect()
    }
}
