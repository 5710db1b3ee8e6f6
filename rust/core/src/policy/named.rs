//! The policies by name.

use super::{
    Capacity, Drf, DynamicAllocation, JobOrder, MinFrag, Oversubscribe, Policy, Prophet,
    StaticAllocation, Tetris, Trc, Ursa, Watermark,
};
use crate::fit::Peaks;

/// A name that no policy has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {name}: not known, {} are there", names().join(", "))]
pub struct UnknownPolicy {
    /// The name that was asked for.
    pub name: String,
}

fn all(peaks: Peaks) -> Vec<Box<dyn Policy>> {
    vec![
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
    let all = all(Peaks::Strict);
    all.iter().map(|policy| policy.name()).collect()
}

/// The policy of this name. Those that fit by demand over time hold peaks to `peaks`.
///
/// # Errors
/// There is none; the error lists those that are there.
pub fn named(name: &str, peaks: Peaks) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let found = all(peaks).into_iter().find(|policy| policy.name() == name);
    found.ok_or_else(|| UnknownPolicy {
        name: name.to_owned(),
    })
}
