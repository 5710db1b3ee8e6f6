//! `elastane import spark-eventlog`

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use elastane_eventlog::{EventLog, Found, ImportOptions, Imported, find, read};
use elastane_predict::EXECUTORS;
use elastane_runtime::submission_record;
use elastane_store::{Depository, SubmissionRecord};
use serde_json::json;

use super::SparkEventlog;
use super::report::{ImportReport, ReadRun, SavedRuns};
use crate::bar::bar;
use crate::depository::open_or_create;
use crate::failure::Failure;
use crate::units::count;

impl SparkEventlog {
    pub(super) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let mut report = ImportReport::default();
        let logs = self.find(&mut report)?;
        let options = ImportOptions {
            queues: self.queue.iter().cloned().collect(),
            names: self.name.iter().cloned().collect(),
        };
        let into = self.depository.as_ref().filter(|_| !self.dry_run);
        let mut imports = Imports {
            depository: into.map(|path| open_or_create(path)).transpose()?,
            latest: HashMap::new(),
        };
        report.saved = into.map(|_| SavedRuns::default());
        let bar = bar("logs");
        bar.set_length(logs.len() as u64);
        for log in logs {
            match read(&log, &options) {
                Ok(imported) => imports.add(log.path, &imported, &mut report)?,
                Err(error) => report.unreadable.push(error.to_string()),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        match self.json {
            true => writeln!(output, "{:#}", json!(report))?,
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
    fn find(&self, report: &mut ImportReport) -> Result<Vec<EventLog>, Failure> {
        let mut logs = Vec::new();
        let mut without_log = Vec::new();
        for path in &self.paths {
            match found_in(path) {
                Ok(found) => {
                    for found in found {
                        match found {
                            Found::Log(log) => logs.push(log),
                            Found::InProgress(path) => report.skip(&path, "in progress"),
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

/// The runs of an import on their way into a depository.
struct Imports {
    /// None with `--dry-run`.
    depository: Option<Depository>,
    /// By application.
    latest: HashMap<String, LatestAttempt>,
}

struct LatestAttempt {
    attempt: u32,
    log: PathBuf,
    place_in_report: usize,
    /// The depository had a run of the application before the import; that run stays.
    was_there: bool,
}

impl Imports {
    /// Adds a run; the last attempt of an application replaces earlier ones.
    fn add(
        &mut self,
        log: PathBuf,
        imported: &Imported,
        report: &mut ImportReport,
    ) -> Result<(), Failure> {
        let id = &imported.run.application_id;
        let attempt = imported.attempt.unwrap_or(0);
        let (place_in_report, was_there) = match self.latest.get(id) {
            Some(latest) if latest.attempt > attempt => {
                report.skip(&log, same_application(&latest.log));
                return Ok(());
            }
            Some(former) => {
                report.skip(&former.log, same_application(&log));
                report.read[former.place_in_report] = ReadRun::from(imported);
                (former.place_in_report, former.was_there)
            }
            None => {
                report.read.push(ReadRun::from(imported));
                let run = self.depository.as_ref().map(|it| it.run(id)).transpose()?;
                let was_there = run.flatten().is_some();
                if let Some(saved) = &mut report.saved {
                    saved.kept += usize::from(was_there);
                    saved.added += usize::from(!was_there);
                }
                (report.read.len() - 1, was_there)
            }
        };
        if let Some(depository) = self.depository.as_mut().filter(|_| !was_there) {
            // A run without its submission would stay so: the next import keeps runs that are there.
            depository.save_submission(&submitted(imported))?;
            depository.save(&imported.run)?;
        }
        let latest = LatestAttempt { attempt, log, place_in_report, was_there };
        self.latest.insert(id.clone(), latest);
        Ok(())
    }
}

/// The submission as YARN reports it. The requested cores and memory of executors are left out: the
/// ResourceManager rounds them by settings that a log does not have.
fn submitted(imported: &Imported) -> SubmissionRecord {
    let mut record = submission_record(&imported.submission, imported.run.started_ms);
    if let Some(executors) = imported.executors {
        record.settings.insert(EXECUTORS.to_owned(), executors);
    }
    record
}

fn same_application(kept: &Path) -> String {
    format!("{} is of the same application", kept.display())
}
