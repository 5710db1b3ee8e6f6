//! On which nodes the core's decisions are enforced.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::settings::Exceptions;

#[derive(Debug, Default)]
pub(super) struct Enforced {
    /// On nodes that nothing below names.
    pub(super) everywhere: bool,
    by_label: BTreeMap<String, bool>,
    /// By host or `host:port`, in lower case.
    nodes: BTreeSet<String>,
}

impl Enforced {
    pub(super) fn except(&mut self, exceptions: &Exceptions) {
        self.by_label = exceptions.enforce_by_label.clone();
        self.nodes = exceptions.enforced_nodes.iter().map(|it| it.to_lowercase()).collect();
    }

    /// `node` is YARN's name, `host:port`.
    pub(super) fn is_at(&self, node: &str, label: &str) -> bool {
        let node = node.to_lowercase();
        let host = node.rsplit_once(':').map_or(&*node, |(host, _)| host);
        self.nodes.contains(&node)
            || self.nodes.contains(host)
            || self.by_label.get(label).copied().unwrap_or(self.everywhere)
    }
}
