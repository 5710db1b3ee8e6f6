//! The newest report of each node's agent and what its containers used lately, for those who ask about them.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::Resources;
use elastane_protocol::{ContainerSamples, Report};
use parking_lot::Mutex;

use crate::use_history::UseHistory;

/// By node. It has a lock of its own, so that no heartbeat waits.
#[derive(Default)]
pub(crate) struct LatestReports {
    by_node: Mutex<HashMap<String, NodeReports>>,
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
}

impl LatestReports {
    /// A report may come before the next samples of the containers; the former one stays then. Gives the one that
    /// it replaces, which the caller frees when it holds no lock. `planned` gives what a container is expected to use now.
    #[must_use]
    pub(crate) fn arrived(
        &self,
        node: &str,
        mut report: Report,
        at_ms: i64,
        planned: impl Fn(&str) -> Option<Resources>,
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
        let mut by_node = self.by_node.lock();
        if !by_node.contains_key(node) {
            by_node.insert(node.to_owned(), NodeReports::default());
        }
        let reports = by_node.get_mut(node)?;
        reports.history.arrived(&arrived.report.containers, at_ms, planned);
        reports.newest.replace(arrived)
    }

    pub(crate) fn forget(&self, node: &str) {
        self.by_node.lock().remove(node);
    }

    pub(crate) fn of(&self, node: &str) -> Option<Arc<ArrivedReport>> {
        self.by_node.lock().get(node)?.newest.clone()
    }

    /// What its containers used lately; `read` is called with the lock.
    pub(crate) fn history_of<T>(
        &self,
        node: &str,
        read: impl FnOnce(&UseHistory) -> T,
    ) -> Option<T> {
        self.by_node.lock().get(node).map(|reports| read(&reports.history))
    }
}
