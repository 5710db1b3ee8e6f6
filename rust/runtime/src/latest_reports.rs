//! The newest report of each node's agent and what its containers used lately, for those who ask about them.

mod kept;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use elastane_core::Resources;
use elastane_protocol::{ContainerSamples, Report};
use parking_lot::Mutex;

use crate::use_history::{UseColumns, UseHistory};
pub(crate) use kept::{ArrivedReport, KeptReport};

/// By node. The map's lock is held for a look only, and a node's for its own reports.
#[derive(Default)]
pub(crate) struct LatestReports {
    by_node: Mutex<HashMap<String, Arc<Mutex<NodeReports>>>>,
    /// An error of keeping a report was logged. The next reports would repeat it every few seconds.
    has_logged: AtomicBool,
}

#[derive(Default)]
struct NodeReports {
    /// The newest report that has samples.
    newest: Option<KeptReport>,
    /// Shared with those who read it.
    history: Arc<UseHistory>,
}

impl LatestReports {
    /// What to keep of a report, see [`KeptReport::of`]. A report that cannot be encoded is not kept, and the first error
    /// is logged: only answers to questions lack the report.
    pub(crate) fn to_keep(
        &self,
        node: &str,
        report: &Report,
        version: u16,
        body: &[u8],
        at_ms: i64,
    ) -> Option<KeptReport> {
        KeptReport::of(report, version, body, at_ms).unwrap_or_else(|error| {
            if !self.has_logged.swap(true, Relaxed) {
                log::error!(
                    "the report of {node} is not kept, so answers about {node} show an older one: {error}; \
                     later errors of this kind are not logged"
                );
            }
            None
        })
    }

    /// Replaces the node's report. For `planned`, see [`UseHistory::arrived`].
    pub(crate) fn arrived(
        &self,
        node: &str,
        containers: &[ContainerSamples],
        kept: KeptReport,
        planned: impl Fn(&str) -> Option<(Arc<str>, Resources)>,
    ) {
        let reports = {
            let mut by_node = self.by_node.lock();
            match by_node.get(node) {
                Some(reports) => Arc::clone(reports),
                None => Arc::clone(by_node.entry(node.to_owned()).or_default()),
            }
        };
        let mut reports = reports.lock();
        if reports.history.is_due(kept.at_ms) {
            // Copies the history only while somebody reads it.
            Arc::make_mut(&mut reports.history).arrived(containers, kept.at_ms, planned);
        }
        reports.newest = Some(kept);
    }

    pub(crate) fn forget(&self, node: &str) {
        self.by_node.lock().remove(node);
    }

    pub(crate) fn of(&self, node: &str) -> Option<ArrivedReport> {
        // The node's lock is held while the pointer is copied, not while the report is decoded.
        let kept = self.reports(node)?.lock().newest.clone()?;
        kept.read().map_err(|error| log::error!("the kept report of {node}: {error}")).ok()
    }

    /// See [`UseHistory::columns`].
    pub(crate) fn history_of(&self, node: &str) -> Option<UseColumns> {
        // A report waits for the node's lock while it holds the service's lock, so only the pointer is copied.
        let history = Arc::clone(&self.reports(node)?.lock().history);
        Some(history.columns())
    }

    fn reports(&self, node: &str) -> Option<Arc<Mutex<NodeReports>>> {
        self.by_node.lock().get(node).cloned()
    }
}

#[cfg(test)]
mod tests;
