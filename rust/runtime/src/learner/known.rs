//! What is known of an application at once, before anybody has looked at its settings.

use std::sync::Arc;

use elastane_core::cluster::{Demands, Predicted};
use elastane_predict::{ContainerKind, Planned, Profile, Settings};
use elastane_store::{PackError, PackedDemand};

/// The profile of the latest run's settings. There is one of each application that ever ran, so
/// demands are packed.
pub(super) struct Known {
    kinds: Vec<(ContainerKind, Packed)>,
    /// How many runs it was made from.
    pub(super) runs: usize,
    /// It holds for submissions that agree with them.
    pub(super) settings: Settings,
}

/// What containers of one kind are planned by.
pub(super) struct Packed {
    demand: PackedDemand,
    margin: f64,
}

impl Known {
    /// Of kinds whose demand cannot be packed the request stands.
    pub(super) fn new(profile: &Profile, settings: Settings) -> Self {
        let key = &profile.key;
        let packed = |(kind, planned)| match Packed::new(planned) {
            Ok(packed) => Some((kind, packed)),
            Err(error) => {
                log::error!("the profile {key} says nothing of the {kind}: {error}");
                None
            }
        };
        Self {
            kinds: profile.all_planned().filter_map(packed).collect(),
            runs: profile.runs(),
            settings,
        }
    }

    /// What its containers are planned by. It takes some 50 us for each kind where runs
    /// take half an hour.
    pub(super) fn unpack(&self, profile: &Arc<str>) -> Result<Demands, PackError> {
        let unpacked = self
            .kinds
            .iter()
            .map(|(kind, packed)| Ok((*kind, packed.unpack(profile)?)));
        unpacked.collect()
    }
}

impl Packed {
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
