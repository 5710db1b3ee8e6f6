//! The policies that the ResourceManager accepts, by name.

use super::{ElastanePolicy, Favor, JobOrder, MinFrag, Policy, Prophet, Trc, Ursa};
use crate::fit::Peaks;

/// No policy has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {name} is unknown; the policies are {}", known.join(", "))]
pub struct UnknownPolicy {
    /// The unknown name.
    pub name: String,
    /// The known names.
    pub known: Vec<&'static str>,
}

/// The options of policies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PolicyOptions {
    /// Whether peaks may coincide. None keeps each policy's own rule: strict for the papers'
    /// policies, soft for [`ElastanePolicy`].
    pub peaks: Option<Peaks>,
    /// The time that [`ElastanePolicy`] minimizes.
    pub favor: Favor,
}

fn all(options: PolicyOptions) -> Vec<Box<dyn Policy>> {
    let peaks = options.peaks.unwrap_or_default();
    vec![
        Box::new(ElastanePolicy {
            peaks: options.peaks.unwrap_or(Peaks::Soft),
            favor: options.favor,
        }),
        Box::new(MinFrag { peaks }),
        Box::new(Trc { peaks }),
        Box::new(Prophet::default()),
        Box::new(Ursa { order: JobOrder::EarliestFirst }),
        Box::new(Ursa { order: JobOrder::SmallestRemainingFirst }),
    ]
}

/// The names of the policies.
pub fn names() -> Vec<&'static str> {
    let all = all(PolicyOptions::default());
    all.iter().map(|policy| policy.name()).collect()
}

/// The policy of this name.
///
/// # Errors
/// No policy has this name; the error lists the names that exist.
pub fn named(name: &str, options: PolicyOptions) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let found = all(options).into_iter().find(|policy| policy.name() == name);
    found.ok_or_else(|| UnknownPolicy { name: name.to_owned(), known: names() })
}
