//! `elastane import spark-eventlog`

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use elastane_eventlog::{EventLog, Found, ImportOptions, Imported, find, read};
use elastane_predict::{EXECUTORS, signature_parts, submission_settings};
use elastane_store::{Access, Depository, MergeReport, SubmissionRecord};

use super::SparkEventlog;
use super::report::{ReadRun, Report};
use crate::bar::bar;
use crate::failure::Failure;
use crate::units::count;

impl SparkEventlog {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let mut report = Report::default();
        let logs = self.find(&mut report)?;
        let options = ImportOptions {
            queues: self.queue.iter().cloned().collect(),
            names: self.name.iter().cloned().collect(),
        };
        let mut gathered = Gathered::new()?;
        let bar = bar("logs");
        bar.set_length(logs.len() as u64);
        for log in logs {
            match read(&log, &options) {
                Ok(imported) => gathered.add(log.path, imported, &mut report)?,
                Err(error) => report.unreadable.push(error.to_string()),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        if let Some(depository) = self.depository.as_ref().filter(|_| !self.dry_run) {
            report.saved = Some(gathered.save(depository)?);
        }
        match self.json {
            true => report.write_json(output)?,
            false => report.write(output)?,
        }
        match report.unreadable.len() {
            0 => Ok(()),
            unreadable => {
                output.flush()?;
                let logs = count(unreadable, "log");
                Err(Failure::Failed(format!("{logs} could not be read")))
            }
        }
    }

    /// A PATH without a log is reported as an unreadable log; if no PATH has a log, the command fails.
    fn find(&self, report: &mut Report) -> Result<Vec<EventLog>, Failure> {
        let mut logs = Vec::new();
        let mut without_log = Vec::new();
        for path in &self.paths {
            match found_in(path) {
                Ok(found) => {
                    for found in found {
                        match found {
                            Found::Log(log) => logs.push(log),
                            Found::Skipped { path, reason } => report.skip(&path, reason),
                            Found::Unreadable(error) => report.unreadable.push(error.to_string()),
                        }
                    }
                }
                Err(failure) => without_log.push(failure),
            }
        }
        let none_gives_any = without_log.len() == self.paths.len();
        for failure in without_log {
            if none_gives_any {
                return Err(failure);
            }
            report.unreadable.push(failure.to_string());
        }
        Ok(logs)
    }
}

fn found_in(path: &Path) -> Result<Vec<Found>, Failure> {
    let found = find(path).map_err(|error| Failure::BadInput(error.to_string()))?;
    if found.is_empty() {
        return Err(Failure::bad(path, "no event log in it"));
    }
    Ok(found)
}

/// The imported runs, in a temporary depository until all are read: added one by one, they could
/// replace a measured run.
struct Gathered {
    folder: tempfile::TempDir,
    depository: Depository,
    /// The latest attempt of each application, with the path of its log and its index in the report.
    latest: HashMap<String, (u32, PathBuf, usize)>,
}

const FILE: &str = "imported.db";

impl Gathered {
    fn new() -> Result<Self, Failure> {
        let failed = |error| Failure::Failed(format!("a temporary folder: {error}"));
        let folder = tempfile::tempdir().map_err(failed)?;
        let depository = Depository::open(&folder.path().join(FILE))?.depository;
        Ok(Self {
            folder,
            depository,
            latest: HashMap::new(),
        })
    }

    /// Adds a run; the last attempt of an application replaces earlier ones.
    fn add(
        &mut self,
        path: PathBuf,
        imported: Imported,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let id = imported.run.application_id.clone();
        let attempt = imported.attempt.unwrap_or(0);
        if let Some((latest, kept, _)) = self.latest.get(&id)
            && *latest > attempt
        {
            report.skip(&path, same_application(kept));
            return Ok(());
        }
        self.depository.save(&imported.run)?;
        self.depository.save_submission(&submitted(&imported))?;
        let place = match self.latest.remove(&id) {
            Some((_, former, place)) => {
                report.skip(&former, same_application(&path));
                report.read[place] = ReadRun::from(&imported);
                place
            }
            None => {
                report.read.push(ReadRun::from(&imported));
                report.read.len() - 1
            }
        };
        self.latest.insert(id, (attempt, path, place));
        Ok(())
    }

    fn save(self, path: &Path) -> Result<MergeReport, Failure> {
        // Closing the depository flushes it to the file.
        drop(self.depository);
        let mut depository = if path.exists() {
            Depository::open_existing(path, Access::Write)?
        } else {
            Depository::open(path)?.depository
        };
        Ok(depository.merge(&self.folder.path().join(FILE))?)
    }
}

/// The submission as YARN reports it. The requested cores and memory of executors are left out: the
/// ResourceManager rounds them by settings that a log does not have.
fn submitted(imported: &Imported) -> SubmissionRecord {
    let mut settings = submission_settings(&imported.submission).0;
    if let Some(executors) = imported.executors {
        settings.insert(EXECUTORS.to_owned(), executors);
    }
    let run = &imported.run;
    SubmissionRecord {
        application_id: run.application_id.clone(),
        application_key: run.application_key.clone(),
        application_name: run.application_name.clone(),
        submitted_ms: run.started_ms,
        signature: signature_parts(&imported.submission),
        settings,
    }
}

fn same_application(kept: &Path) -> String {
    format!("{} is of the same application", kept.display())
}
