//! The report of an import, as text and as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use elastane_eventlog::{Imported, MemoryCounts};
use elastane_predict::Outcome;
use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::units::{count, duration};

/// The logs that were read, skipped and unreadable.
#[derive(Default, Serialize)]
pub(super) struct ImportReport {
    pub(super) read: Vec<ReadRun>,
    skipped: Vec<Skipped>,
    pub(super) unreadable: Vec<String>,
    /// None with `--dry-run`.
    pub(super) saved: Option<SavedRuns>,
}

#[derive(Serialize)]
struct Skipped {
    path: String,
    reason: String,
}

/// The number of runs that were new, and of runs that the depository had before.
#[derive(Default, Serialize)]
pub(super) struct SavedRuns {
    pub(super) added: usize,
    pub(super) kept: usize,
}

/// A run without its series.
#[derive(Serialize)]
pub(super) struct ReadRun {
    application_id: String,
    key: String,
    outcome: &'static str,
    length_ms: i64,
    executors: u32,
    tasks: u64,
    memory: MemoryCounts,
    /// Each note is one kind of uncertainty of the key.
    notes: Vec<String>,
    settings: Value,
}

impl From<&Imported> for ReadRun {
    fn from(imported: &Imported) -> Self {
        let run = &imported.run;
        Self {
            application_id: run.application_id.clone(),
            key: run.application_key.clone(),
            outcome: match run.outcome {
                Outcome::CutOff => "cut off",
                outcome => outcome.name(),
            },
            length_ms: run.ended_ms - run.started_ms,
            executors: run.series.iter().map(|series| series.containers).sum(),
            tasks: imported.tasks,
            memory: imported.memory,
            notes: imported.notes.iter().map(ToString::to_string).collect(),
            settings: json!({
                "executors": imported.executors,
                "executor_cores": imported.executor_cores,
                "executor_memory_bytes": imported.executor_memory_bytes,
                "input_bytes": imported.input_bytes,
            }),
        }
    }
}

impl ImportReport {
    pub(super) fn skip(&mut self, path: &Path, reason: impl Into<String>) {
        self.skipped.push(Skipped { path: path.display().to_string(), reason: reason.into() });
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        for run in &self.read {
            let tasks = count(run.tasks as usize, "task");
            let executors = count(run.executors as usize, "executor");
            let (length, memory) = (duration(run.length_ms), memory_words(run.memory));
            let (id, outcome) = (&run.application_id, run.outcome);
            writeln!(
                output,
                "{id}  {outcome}, {tasks} with {executors} in {length}, memory {memory}"
            )?;
            writeln!(output, "    {}", run.key)?;
        }
        for Skipped { path, reason } in &self.skipped {
            writeln!(output, "skipped {path}: {reason}")?;
        }
        for problem in &self.unreadable {
            writeln!(output, "unreadable {problem}")?;
        }
        let mut runs_by_note: BTreeMap<&String, usize> = BTreeMap::new();
        for note in self.read.iter().flat_map(|run| &run.notes) {
            *runs_by_note.entry(note).or_default() += 1;
        }
        for (note, runs) in runs_by_note {
            writeln!(output, "{}: {note}", count(runs, "run"))?;
        }
        let saved = match &self.saved {
            Some(SavedRuns { added, kept }) => format!("{added} added, {kept} there already"),
            None => "nothing changed".to_owned(),
        };
        let read = count(self.read.len(), "run");
        let skipped = count(self.skipped.len(), "log");
        let unreadable = self.unreadable.len();
        writeln!(output, "{read} read: {saved}; {skipped} skipped, {unreadable} unreadable")?;
        Ok(())
    }
}

/// The worst source decides the wording.
fn memory_words(memory: MemoryCounts) -> &'static str {
    match memory {
        MemoryCounts { request: 1.., .. } => "as requested",
        MemoryCounts { heap: 1.., .. } => "from the JVM's",
        _ => "as measured",
    }
}
