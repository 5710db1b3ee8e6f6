//! The newest report of each node's agent and what its containers used lately, for those who ask about them.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::Resources;
use elastane_protocol::{
    BodyError, CanLimit, ContainerSamples, Report, VERSION, decode_report, encode,
};
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
    newest: Option<KeptReport>,
    history: UseHistory,
}

/// A report as the agent sends it: a third of its size in memory otherwise, and few are ever asked about.
#[derive(Debug, Clone)]
pub(crate) struct KeptReport {
    at_ms: i64,
    version: u16,
    body: Arc<[u8]>,
}

impl KeptReport {
    /// Of a report and the body that it was read from; none for one without samples of its containers. An agent that could not
    /// report for a while sends many samples of each container, and all but the last are left out.
    ///
    /// # Errors
    /// A report that cannot be written.
    pub(crate) fn of(
        report: &Report,
        version: u16,
        body: &[u8],
        at_ms: i64,
    ) -> Result<Option<Self>, BodyError> {
        let containers = &report.containers;
        if !containers.is_empty() && containers.iter().all(|it| it.samples.is_empty()) {
            return Ok(None);
        }
        if containers.iter().all(|it| it.samples.len() <= 1) {
            return Ok(Some(Self { at_ms, version, body: body.into() }));
        }
        let mut report = report.clone();
        for container in &mut report.containers {
            let older = container.samples.len().saturating_sub(1);
            container.samples.drain(..older);
        }
        Ok(Some(Self { at_ms, version: VERSION, body: encode(&report)?.into() }))
    }

    /// As it arrived.
    fn read(&self) -> Result<ArrivedReport, BodyError> {
        let report = decode_report(self.version, &self.body)?;
        Ok(ArrivedReport { at_ms: self.at_ms, report })
    }
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
    /// A report may come before the next samples of the containers: none is kept of it then, and the former one stays. For
    /// `planned`, see [`UseHistory::arrived`].
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
        reports.history.arrived(containers, kept.at_ms, planned);
        reports.newest = Some(kept);
    }

    pub(crate) fn forget(&self, node: &str) {
        self.by_node.lock().remove(node);
    }

    pub(crate) fn of(&self, node: &str) -> Option<ArrivedReport> {
        // Reports wait for the pointer alone.
        let kept = self.reports(node)?.lock().newest.clone()?;
        kept.read().map_err(|error| log::error!("the kept report of {node}: {error}")).ok()
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
