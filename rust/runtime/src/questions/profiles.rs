//! The profiles in memory.

use elastane_core::Resources;
use serde::{Deserialize, Serialize};

use crate::depository::{DepositoryThread, PlannedKind, ProfileOverview};

/// A page of them.
#[derive(Debug, Deserialize)]
pub(crate) struct WantedProfiles {
    limit: usize,
    offset: usize,
}

/// The latest used ones first.
#[derive(Debug, Serialize)]
pub(crate) struct FoundProfiles {
    total: usize,
    profiles: Vec<ProfileEntry>,
}

#[derive(Debug, Serialize)]
struct ProfileEntry {
    profile: String,
    /// The number of runs that it was made from.
    runs: usize,
    /// The median of the predicted length; none where nothing is predicted.
    length_ms: Option<f64>,
    /// When its newest run ended, or an application was last planned by it.
    used_ms: i64,
    kinds: Vec<KindEntry>,
}

#[derive(Debug, Serialize)]
struct KindEntry {
    kind: &'static str,
    request_priority: Option<i32>,
    confidence: f64,
    /// The safety margin that the demand is planned with.
    margin_percent: f64,
    /// The number of stages by which its progress is known; 0 where earlier runs told none.
    stages: usize,
    peak: Resources,
    mean: Resources,
}

impl WantedProfiles {
    pub(crate) fn find(&self, depository: &DepositoryThread) -> FoundProfiles {
        let (total, profiles) = depository.profiles(self.offset, self.limit);
        FoundProfiles { total, profiles: profiles.into_iter().map(ProfileEntry::of).collect() }
    }
}

impl ProfileEntry {
    fn of(overview: ProfileOverview) -> Self {
        let ProfileOverview { key, runs, length, used_ms, kinds } = overview;
        Self {
            runs,
            length_ms: length.map(|it| it.length_ms.center.exp()),
            used_ms,
            kinds: kinds.iter().filter_map(|kind| KindEntry::of(&key, kind)).collect(),
            profile: key.to_string(),
        }
    }
}

impl KindEntry {
    /// None of a demand that cannot be unpacked; no container is planned by it, either.
    fn of(profile: &str, kind: &PlannedKind) -> Option<Self> {
        let PlannedKind { kind, demand, confidence, margin, stage_ends } = kind;
        let demand = demand.unpack();
        let demand = demand.inspect_err(|error| log::error!("the profile {profile}: {error}"));
        demand.ok().map(|demand| Self {
            kind: kind.name(),
            request_priority: kind.priority(),
            confidence: *confidence,
            margin_percent: 100.0 * margin,
            stages: stage_ends.parts().len(),
            peak: demand.peak(),
            mean: demand.mean(),
        })
    }
}
