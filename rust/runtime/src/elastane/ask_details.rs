//! What belongs to an ask beside kind, priority, request and count.

use elastane_core::Cluster;
use elastane_core::cluster::{ApplicationId, Standing};

/// See [`Cluster::set_standing`] and [`Cluster::set_label`].
#[derive(Debug, Clone, Copy)]
pub struct AskDetails<'a> {
    /// Amounts of the other resource types.
    pub countables: &'a [u64],
    /// The node label; empty for none.
    pub label: &'a str,
    /// What the application's queue does with its asks.
    pub standing: Standing,
}

impl AskDetails<'_> {
    pub(super) fn put_into(&self, cluster: &mut Cluster, application: ApplicationId) {
        cluster.set_standing(application, self.countables, self.standing);
        cluster.set_label(application, self.label);
    }
}

impl Default for AskDetails<'_> {
    fn default() -> Self {
        Self { countables: &[], label: "", standing: Standing::Ordered }
    }
}
