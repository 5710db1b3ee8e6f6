//! One finished run of an application.

use std::collections::BTreeSet;

use elastane_core::{ContainerKind, Demand, DemandError, Resources, SLOT_MS, StageEnds};
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The application succeeded, by YARN. Only these runs make a profile.
    Succeeded,
    /// The application failed or was killed.
    Failed,
    /// The end of the run, or another part, was not seen.
    CutOff,
}

impl Outcome {
    /// `succeeded`, `failed` or `cut-off`.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::CutOff => "cut-off",
        }
    }
}

/// The use of one run of an application.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The key of the application's signature.
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

/// The kinds of containers of these runs.
pub fn kinds<'a>(runs: impl IntoIterator<Item = &'a Run>) -> BTreeSet<ContainerKind> {
    let series = runs.into_iter().flat_map(|run| &run.series);
    series.map(|series| series.kind).collect()
}

impl Run {
    /// The mean use of one container of this kind; none where the run had none.
    ///
    /// # Errors
    /// A series that is no demand.
    pub fn used(&self, kind: ContainerKind) -> Result<Option<Demand>, DemandError> {
        let series = self.series.iter().find(|series| series.kind == kind);
        series.map(|series| Demand::series(SLOT_MS, &series.slots)).transpose()
    }

    /// When the application's stages ended, as parts of the life of a container of this kind; empty where it told none.
    pub fn stage_ends(&self, kind: ContainerKind) -> StageEnds {
        let series = self.series.iter().find(|series| series.kind == kind);
        series.map(RunSeries::stage_ends).unwrap_or_default()
    }
}

/// The use of the containers of one kind, slot by slot from a container's start.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSeries {
    /// The kind of containers.
    pub kind: ContainerKind,
    /// The number of containers over the whole run.
    pub containers: u32,
    /// The mean use of one container, one value for each [`elastane_core::SLOT_MS`].
    pub slots: Vec<Resources>,
    /// When the application's stages ended, in milliseconds since a container's start; empty where it told none.
    pub stage_ends_ms: Vec<u32>,
}

impl RunSeries {
    fn stage_ends(&self) -> StageEnds {
        let length_ms = self.slots.len() as i64 * i64::from(SLOT_MS);
        StageEnds::of_ms(&self.stage_ends_ms, length_ms).unwrap_or_default()
    }
}
