//! The policies by name.

use elastane_core::policy::{MinFrag, Policy};

/// A name that no policy has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("policy {name}: not known, {} is there", names().join(", "))]
pub struct UnknownPolicy {
    /// The name that was asked for.
    pub name: String,
}

fn all() -> Vec<Box<dyn Policy>> {
    vec![Box::new(MinFrag)]
}

fn names() -> Vec<&'static str> {
    all().iter().map(|policy| policy.name()).collect()
}

/// The policy of this name.
///
/// # Errors
/// There is none; the error lists those that are there.
pub fn policy(name: &str) -> Result<Box<dyn Policy>, UnknownPolicy> {
    let found = all().into_iter().find(|policy| policy.name() == name);
    found.ok_or_else(|| UnknownPolicy {
        name: name.to_owned(),
    })
}
