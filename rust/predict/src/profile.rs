//! From runs to what the next run is expected to use.

use std::collections::BTreeMap;

use elastane_core::{Demand, DemandError, Resources, SLOT_MS};

use crate::run::{ContainerKind, Outcome, Run};

/// How a profile is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileSettings {
    /// The latest so many succeeded runs are taken.
    pub runs: usize,
    /// What the fit adds to the demand, as a fraction: 0.1 is a tenth more.
    pub margin: f64,
}

/// What the next run of an application is expected to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The key of the application's [`crate::Signature`].
    pub key: String,
    /// How many runs it was made from.
    pub runs: usize,
    /// From the settings; it is not in the demands, the fit adds it.
    pub margin: f64,
    /// The demand of one container of each kind that the runs had.
    pub demands: BTreeMap<ContainerKind, Demand>,
    /// What the runs held that could not be used.
    pub left_out: Vec<LeftOut>,
}

/// A series that is not part of a profile, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The run.
    pub application_id: String,
    /// The containers.
    pub kind: ContainerKind,
    /// What is wrong with it.
    pub reason: DemandError,
}

impl Profile {
    /// The demand of one container of this kind; none when no run had one.
    #[must_use]
    pub fn demand(&self, kind: ContainerKind) -> Option<&Demand> {
        self.demands.get(&kind)
    }
}

/// The profile from the latest runs, or none when none of them succeeded.
///
/// Slot by slot, a demand is the mean over the runs that have a value there, up to the longest run.
/// Memory is the largest of them: CPU and bandwidth above a prediction are shared out and cost time,
/// memory above it cannot be shared out and costs the container.
#[must_use]
pub fn profile(
    key: &str,
    runs_newest_first: &[Run],
    settings: &ProfileSettings,
) -> Option<Profile> {
    let runs: Vec<&Run> = runs_newest_first
        .iter()
        .filter(|run| run.outcome == Outcome::Succeeded)
        .take(settings.runs)
        .collect();
    if runs.is_empty() {
        return None;
    }
    let mut left_out = Vec::new();
    let mut demands = BTreeMap::new();
    for kind in ContainerKind::ALL {
        let series = usable(&runs, kind, &mut left_out);
        // Series that are usable one by one can only fail together when none is left.
        if let Ok(demand) = Demand::series(SLOT_MS, &combined(&series)) {
            demands.insert(kind, demand);
        }
    }
    Some(Profile {
        key: key.to_owned(),
        runs: runs.len(),
        margin: settings.margin,
        demands,
        left_out,
    })
}

fn usable<'r>(
    runs: &[&'r Run],
    kind: ContainerKind,
    left_out: &mut Vec<LeftOut>,
) -> Vec<&'r [Resources]> {
    let mut usable = Vec::new();
    for run in runs {
        for series in run.series.iter().filter(|series| series.kind == kind) {
            match Demand::series(SLOT_MS, &series.slots) {
                Ok(_) => usable.push(series.slots.as_slice()),
                Err(reason) => left_out.push(LeftOut {
                    application_id: run.application_id.clone(),
                    kind,
                    reason,
                }),
            }
        }
    }
    usable
}

fn combined(series: &[&[Resources]]) -> Vec<Resources> {
    let longest = series.iter().map(|slots| slots.len()).max().unwrap_or(0);
    (0..longest)
        .map(|slot| {
            let values: Vec<Resources> = series
                .iter()
                .filter_map(|slots| slots.get(slot).copied())
                .collect();
            let share = 1.0 / values.len() as f64;
            let (mean, largest) = values.iter().fold(
                (Resources::ZERO, Resources::ZERO),
                |(mean, largest), value| (mean + *value * share, largest.max(*value)),
            );
            Resources {
                memory_bytes: largest.memory_bytes,
                ..mean
            }
        })
        .collect()
}
