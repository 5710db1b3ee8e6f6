//! One finished run of an application.

use std::collections::BTreeSet;

use elastane_core::{ContainerKind, Demand, DemandError, Resources, SLOT_MS};

use crate::recurring::PastRun;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// YARN says that it succeeded. Only these make a profile.
    Succeeded,
    /// It failed or was killed.
    Failed,
    /// Its end, or a part of it, was not seen.
    CutOff,
}

/// What one run of an application used.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The key of the application's [`crate::Signature`].
    pub application_key: String,
    /// YARN's application id, the identity of the run.
    pub application_id: String,
    /// The name as it was submitted.
    pub application_name: String,
    /// Start in Unix milliseconds.
    pub started_ms: i64,
    /// End in Unix milliseconds.
    pub ended_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// At most one for each kind of container.
    pub series: Vec<RunSeries>,
}

/// The kinds of containers that runs had.
#[must_use]
pub fn kinds<'a>(runs: impl IntoIterator<Item = &'a Run>) -> BTreeSet<ContainerKind> {
    let series = runs.into_iter().flat_map(|run| &run.series);
    series.map(|series| series.kind).collect()
}

impl Run {
    /// What one container of this kind used; none where there was none.
    ///
    /// # Errors
    /// A series that is no demand.
    pub fn used(&self, kind: ContainerKind) -> Result<Option<Demand>, DemandError> {
        let series = self.series.iter().find(|series| series.kind == kind);
        series
            .map(|series| Demand::series(SLOT_MS, &series.slots))
            .transpose()
    }

    /// As a run that others of its containers' kind are predicted from.
    ///
    /// # Errors
    /// As [`Run::used`].
    pub fn past(&self, kind: ContainerKind) -> Result<Option<PastRun>, DemandError> {
        let past = |used| PastRun {
            id: self.application_id.clone(),
            ended_ms: self.ended_ms,
            outcome: self.outcome,
            used,
        };
        Ok(self.used(kind)?.map(past))
    }
}

/// What the containers of one kind used, slot by slot from a container's start.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSeries {
    /// Which containers.
    pub kind: ContainerKind,
    /// How many there were over the whole run.
    pub containers: u32,
    /// The mean use of one container, one value for each [`elastane_core::SLOT_MS`].
    pub slots: Vec<Resources>,
}
