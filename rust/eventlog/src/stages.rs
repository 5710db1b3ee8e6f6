//! The state of running stages.

use std::collections::{HashMap, HashSet};

use crate::event::{ExecutorMetrics, Rdd, StageExecutorMetrics, StageInfo};

/// A stage and its attempt.
pub(crate) type StageId = (i64, i64);

/// Properties of a stage's tasks that their events lack.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Traits {
    /// The tasks read RDDs cached in memory, not from disk.
    pub(crate) reads_kept: bool,
    /// The tasks use Python processes, whose CPU time is not logged.
    pub(crate) runs_python: bool,
}

#[derive(Default)]
pub(crate) struct Stages {
    open: HashMap<StageId, OpenStage>,
    /// RDDs cached in memory.
    kept: HashSet<i64>,
}

#[derive(Default)]
struct OpenStage {
    traits: Traits,
    from_ms: i64,
    peaks: Vec<(String, ExecutorMetrics)>,
}

/// A completed stage with the memory peaks of its executors.
pub(crate) struct ClosedStage {
    pub(crate) from_ms: i64,
    pub(crate) to_ms: i64,
    pub(crate) peaks: Vec<(String, ExecutorMetrics)>,
}

impl Stages {
    pub(crate) fn begin(&mut self, info: &StageInfo) {
        let traits = Traits {
            reads_kept: info.rdds.iter().any(|rdd| self.kept.contains(&rdd.id)),
            runs_python: info.rdds.iter().any(runs_python),
        };
        let open =
            OpenStage { traits, from_ms: info.from_ms.unwrap_or_default(), peaks: Vec::new() };
        self.open.insert((info.id, info.attempt), open);
    }

    /// The traits of a stage; tasks may still end after their stage.
    pub(crate) fn traits(&self, stage: StageId) -> Traits {
        self.open.get(&stage).map(|open| open.traits).unwrap_or_default()
    }

    pub(crate) fn peak(&mut self, of: &StageExecutorMetrics<'_>) {
        let open = self.open.entry((of.stage, of.attempt)).or_default();
        open.peaks.push((of.executor.to_string(), of.metrics));
    }

    /// Ends a stage and returns its peaks; None if the stage has no times.
    pub(crate) fn end(&mut self, info: &StageInfo) -> Option<ClosedStage> {
        let is_kept = |rdd: &&Rdd| rdd.storage.as_ref().is_some_and(|storage| storage.memory);
        let kept = info.rdds.iter().filter(is_kept);
        self.kept.extend(kept.map(|rdd| rdd.id));
        let open = self.open.get_mut(&(info.id, info.attempt))?;
        let from_ms = info.from_ms.unwrap_or(open.from_ms);
        let peaks = std::mem::take(&mut open.peaks);
        (from_ms > 0).then_some(ClosedStage { from_ms, to_ms: info.to_ms?, peaks })
    }

    pub(crate) fn forget(&mut self, rdd: &Rdd) {
        self.kept.remove(&rdd.id);
    }
}

/// Operators that exchange rows with Python have it in their name: `PythonRDD`, `ArrowEvalPython`,
/// `MapInPandas`.
fn runs_python(rdd: &Rdd) -> bool {
    let has = |word| rdd.name.contains(word) || rdd.scope.contains(word);
    has("Python") || has("Pandas")
}
