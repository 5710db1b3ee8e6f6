//! The policies that can be simulated, by name.

use elastane_core::policy::{Policy, PolicyOptions, UnknownPolicy, named, names};

/// A policy, and what CapacityScheduler and the applications do beside it.
pub struct PolicyToSimulate {
    /// Decides what is placed.
    pub policy: Box<dyn Policy>,
    /// Whether CapacityScheduler books nodes at the size that they registered with, as without Elastane.
    /// Otherwise what a node may book is unlimited, and the policy's fit decides.
    pub books_as_registered: bool,
    /// Whether applications ask for executors as with Spark's dynamic allocation.
    pub asks_by_backlog: bool,
}

impl PolicyToSimulate {
    /// A policy whose fit decides, and applications that ask for all executors at once.
    pub fn new(policy: impl Policy + 'static) -> Self {
        Self::from(Box::new(policy) as Box<dyn Policy>)
    }
}

impl From<Box<dyn Policy>> for PolicyToSimulate {
    fn from(policy: Box<dyn Policy>) -> Self {
        Self { policy, books_as_registered: false, asks_by_backlog: false }
    }
}

/// The product's policies, and those that a program adds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Policies {
    added: Option<fn() -> Vec<PolicyToSimulate>>,
}

impl Policies {
    /// The product's policies and `added`, whose names differ from theirs.
    pub fn with(added: fn() -> Vec<PolicyToSimulate>) -> Self {
        Self { added: Some(added) }
    }

    /// The names, the product's first.
    pub fn names(&self) -> Vec<&'static str> {
        let added = self.added();
        let added = added.iter().map(|one| one.policy.name());
        names().into_iter().chain(added).collect()
    }

    /// The policy of this name.
    ///
    /// # Errors
    /// No policy has this name; the error lists the names that exist.
    pub fn named(
        &self,
        name: &str,
        options: PolicyOptions,
    ) -> Result<PolicyToSimulate, UnknownPolicy> {
        let added = self.added();
        match added.into_iter().find(|one| one.policy.name() == name) {
            Some(added) => Ok(added),
            None => match named(name, options) {
                Ok(policy) => Ok(policy.into()),
                Err(unknown) => Err(UnknownPolicy { known: self.names(), ..unknown }),
            },
        }
    }

    fn added(&self) -> Vec<PolicyToSimulate> {
        self.added.map_or_else(Vec::new, |added| added())
    }
}
