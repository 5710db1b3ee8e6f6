//! The policies by name.

use super::{
    Capacity, Drf, DynamicAllocation, Elastane, Favor, JobOrder, MinFrag, Oversubscribe, Policy,
    Prophet, StaticAllocation, Tetris, Trc, Ursa, Watermark,
};
use crate::fit::Peaks;

/// A name that no policy has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {name}: not known, {} are there", names().join(", "))]
pub struct UnknownPolicy {
    /// The name that was asked for.
    pub name: String,
}

/// What can be chosen about policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PolicyOptions {
    /// What those that fit by demand over time make of peaks that meet; none leaves it to each: the
    /// papers' are strict, and [`Elastane`] is soft.
    pub peaks: Option<Peaks>,
    /// What [`Elastane`] is to make short.
    pub favor: Favor,
}

fn all(options: PolicyOptions) -> Vec<Box<dyn Policy>> {
    let peaks = options.peaks.unwrap_or_default();
    vec![
        Box::new(Elastane {
            peaks: options.peaks.unwrap_or(Peaks::Soft),
            favor: options.favor,
        }),
        Box::new(MinFrag { peaks }),
        Box::new(Trc { peaks }),
        Box::new(Prophet::default()),
        Box::new(Ursa::ordered_by(JobOrder::EarliestFirst)),
        Box::new(Ursa::ordered_by(JobOrder::SmallestRemainingFirst)),
        Box::new(Capacity),
        Box::new(Drf),
        Box::new(Tetris),
        Box::new(StaticAllocation),
        Box::new(DynamicAllocation),
        Box::new(Watermark::default()),
        Box::new(Oversubscribe::default()),
    ]
}

/// The names of all policies.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let all = all(PolicyOptions::default());
    all.iter().map(|policy| policy.name()).collect()
}

/// The policy of this name.
///
/// # Errors
/// There is none; the error lists those that are there.
pub fn named(name: &str, options: PolicyOptions) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let found = all(options)
        .into_iter()
        .find(|policy| policy.name() == name);
    found.ok_or_else(|| UnknownPolicy {
        name: name.to_owned(),
    })
}
