//! The newest report of each node's agent and what its containers used lately, for those who ask about them.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::Resources;
use elastane_protocol::{CanLimit, ContainerSamples, Report};
use parking_lot::Mutex;

use crate::use_history::{UseColumns, UseHistory};

/// By node. The map's lock is held for a look only, and a node's for its own reports.
#[derive(Default)]
pub(crate) struct LatestReports {
    by_node: Mutex<HashMap<String, Arc<Mutex<NodeReports>>>>,
}

#[derive(Default)]
struct NodeReports {
    /// The newest report that has samples.
    newest: Option<Arc<ArrivedReport>>,
    history: UseHistory,
}

/// A report without all but the last sample of each container.
#[derive(Debug)]
pub(crate) struct ArrivedReport {
    at_ms: i64,
    report: Report,
}

impl ArrivedReport {
    /// The newest samples of a container, and when they came.
    pub(crate) fn of(&self, container: &str) -> Option<(i64, &ContainerSamples)> {
        let samples = self.report.containers.iter().find(|it| it.container == container)?;
        Some((self.at_ms, samples))
    }

    /// What the agent can limit.
    pub(crate) fn can_limit(&self) -> CanLimit {
        self.report.can_limit
    }
}

impl LatestReports {
    /// A report may come before the next samples of the containers; the former one stays then. Gives the one that
    /// it replaces, which the caller frees when it holds no lock. For `planned`, see [`UseHistory::arrived`].
    #[must_use]
    pub(crate) fn arrived(
        &self,
        node: &str,
        mut report: Report,
        at_ms: i64,
        planned: impl Fn(&str) -> Option<(Arc<str>, Resources)>,
    ) -> Option<Arc<ArrivedReport>> {
        let containers = &mut report.containers;
        if !containers.is_empty() && containers.iter().all(|it| it.samples.is_empty()) {
            return None;
        }
        for container in containers {
            let older = container.samples.len().saturating_sub(1);
            container.samples.drain(..older);
            container.samples.shrink_to_fit();
        }
        let arrived = Arc::new(ArrivedReport { at_ms, report });
        let reports = {
            let mut by_node = self.by_node.lock();
            match by_node.get(node) {
                Some(reports) => Arc::clone(reports),
                None => Arc::clone(by_node.entry(node.to_owned()).or_default()),
            }
        };
        let mut reports = reports.lock();
        reports.history.arrived(&arrived.report.containers, at_ms, planned);
        reports.newest.replace(arrived)
    }

    pub(crate) fn forget(&self, node: &str) {
        self.by_node.lock().remove(node);
    }

    pub(crate) fn of(&self, node: &str) -> Option<Arc<ArrivedReport>> {
        self.reports(node)?.lock().newest.clone()
    }

    /// See [`UseHistory::columns`].
    pub(crate) fn history_of(&self, node: &str) -> Option<UseColumns> {
        // Reports wait for the copy alone.
        let history = self.reports(node)?.lock().history.clone();
        Some(history.columns())
    }

    fn reports(&self, node: &str) -> Option<Arc<Mutex<NodeReports>>> {
        self.by_node.lock().get(node).cloned()
    }
}
