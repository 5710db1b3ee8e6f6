//! The report of an import, as text and as JSON.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use elastane_eventlog::{Imported, KeyNote, MemoryCounts};
use elastane_predict::Outcome;
use elastane_store::MergeReport;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::units::{count, duration};

/// The logs that were read, skipped and unreadable.
#[derive(Default)]
pub(super) struct Report {
    pub(super) read: Vec<ReadRun>,
    pub(super) skipped: Vec<(String, String)>,
    pub(super) unreadable: Vec<String>,
    /// None with `--dry-run`.
    pub(super) saved: Option<MergeReport>,
}

/// A run without its series.
pub(super) struct ReadRun {
    id: String,
    key: String,
    outcome: &'static str,
    length_ms: i64,
    executors: u32,
    tasks: u64,
    memory: MemoryCounts,
    notes: Vec<KeyNote>,
    settings: Value,
}

impl From<&Imported> for ReadRun {
    fn from(imported: &Imported) -> Self {
        let run = &imported.run;
        Self {
            id: run.application_id.clone(),
            key: run.application_key.clone(),
            outcome: match run.outcome {
                Outcome::Succeeded => "succeeded",
                Outcome::Failed => "failed",
                Outcome::CutOff => "cut off",
            },
            length_ms: run.ended_ms - run.started_ms,
            executors: run.series.iter().map(|series| series.containers).sum(),
            tasks: imported.tasks,
            memory: imported.memory,
            notes: imported.notes.clone(),
            settings: json!({
                "executors": imported.executors,
                "executor_cores": imported.executor_cores,
                "executor_memory_bytes": imported.executor_memory_bytes,
                "input_bytes": imported.input_bytes,
            }),
        }
    }
}

impl Report {
    pub(super) fn skip(&mut self, path: &Path, reason: impl std::fmt::Display) {
        let path = path.display().to_string();
        self.skipped.push((path, reason.to_string()));
    }

    pub(super) fn write(&self, output: &mut impl Write) -> Result<(), Failure> {
        for run in &self.read {
            let (executors, tasks) = (run.executors as usize, run.tasks as usize);
            writeln!(
                output,
                "{}  {}, {} with {} in {}, memory {}",
                run.id,
                run.outcome,
                count(tasks, "task"),
                count(executors, "executor"),
                duration(run.length_ms),
                memory_words(run.memory)
            )?;
            writeln!(output, "    {}", run.key)?;
        }
        for (path, reason) in &self.skipped {
            writeln!(output, "skipped {path}: {reason}")?;
        }
        for problem in &self.unreadable {
            writeln!(output, "unreadable {problem}")?;
        }
        for (note, runs) in self.notes() {
            writeln!(output, "{}: {note}", count(runs, "run"))?;
        }
        writeln!(output, "{}", self.summary())?;
        Ok(())
    }

    /// The number of runs per note.
    fn notes(&self) -> BTreeMap<&KeyNote, usize> {
        let mut notes = BTreeMap::new();
        for note in self.read.iter().flat_map(|run| &run.notes) {
            *notes.entry(note).or_default() += 1;
        }
        notes
    }

    fn summary(&self) -> String {
        let read = count(self.read.len(), "run");
        let saved = match self.saved {
            Some(MergeReport { added, kept, .. }) => {
                format!("{added} added, {kept} there already")
            }
            None => "nothing changed".to_owned(),
        };
        let skipped = count(self.skipped.len(), "log");
        let unreadable = self.unreadable.len();
        format!("{read} read: {saved}; {skipped} skipped, {unreadable} unreadable")
    }

    pub(super) fn write_json(&self, output: &mut impl Write) -> Result<(), Failure> {
        let read = self.read.iter().map(|run| {
            let notes = run.notes.iter().map(ToString::to_string);
            json!({
                "application_id": run.id,
                "key": run.key,
                "outcome": run.outcome,
                "length_ms": run.length_ms,
                "executors": run.executors,
                "tasks": run.tasks,
                "memory": {
                    "resident": run.memory.resident,
                    "heap": run.memory.heap,
                    "request": run.memory.request,
                },
                "settings": run.settings,
                "notes": notes.collect::<Vec<_>>(),
            })
        });
        let skipped = self.skipped.iter();
        let skipped = skipped.map(|(path, reason)| json!({ "path": path, "reason": reason }));
        let saved = self
            .saved
            .map(|it| json!({ "added": it.added, "kept": it.kept }));
        let report = json!({
            "read": read.collect::<Vec<_>>(),
            "skipped": skipped.collect::<Vec<_>>(),
            "unreadable": self.unreadable,
            "saved": saved,
        });
        writeln!(output, "{report:#}")?;
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
