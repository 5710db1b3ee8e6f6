//! A report as the core keeps it until the node's next one.

use std::sync::Arc;

use elastane_protocol::{
    BodyError, CanLimit, ContainerSamples, Report, VERSION, decode_report, encode,
};

/// An encoded report. It takes a third of the memory of a decoded one, and few reports are ever asked about.
#[derive(Debug, Clone)]
pub(crate) struct KeptReport {
    pub(super) at_ms: i64,
    version: u16,
    body: Arc<[u8]>,
}

impl KeptReport {
    /// Keeps a report, which was decoded from `body`. None for a report with containers of which none has a sample.
    ///
    /// A report with at most one sample of each container keeps its body. A container has several samples where
    /// `report.interval-ms` exceeds the sample interval, or where the agent could not report for a while. Only the last
    /// of them is kept, so the report is encoded anew, without what nobody asks about.
    ///
    /// # Errors
    /// A report of the previous version, of almost the largest size: this version takes one byte more for each container.
    pub(super) fn of(
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
        let reduced = Report {
            containers: containers.iter().map(with_last_sample).collect(),
            memory_victims: Vec::new(),
            decommissioned: Vec::new(),
            ..*report
        };
        Ok(Some(Self { at_ms, version: VERSION, body: encode(&reduced)?.into() }))
    }

    pub(super) fn read(&self) -> Result<ArrivedReport, BodyError> {
        let report = decode_report(self.version, &self.body)?;
        Ok(ArrivedReport { at_ms: self.at_ms, report })
    }
}

fn with_last_sample(container: &ContainerSamples) -> ContainerSamples {
    let ContainerSamples { container, limits, samples, stages } = container;
    ContainerSamples {
        container: container.clone(),
        limits: *limits,
        samples: samples.last().copied().into_iter().collect(),
        stages: *stages,
    }
}

/// A report with at most the last sample of each container.
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
