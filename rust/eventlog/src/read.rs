//! Converts an event log to a run.

use std::collections::BTreeMap;
use std::path::Path;

use elastane_predict::{Run, Submission, signature};

use crate::application::Application;
use crate::codec;
use crate::error::LogError;
use crate::event;
use crate::find::EventLog;
use crate::lines::Lines;
use crate::memory::MemoryCounts;
use crate::properties::{ProfileRequests, Properties};
use crate::submission::{KeyNote, submission};

/// Properties of submissions that logs do not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Queue paths by logged name.
    pub queues: BTreeMap<String, String>,
    /// Submitted application names by logged name.
    pub names: BTreeMap<String, String>,
}

/// The content of an event log.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The run, with the key that a submission to YARN has.
    pub run: Run,
    /// The attempt of the application; None if Spark logs none.
    pub attempt: Option<u32>,
    /// The submission that gives the key.
    pub submission: Submission,
    /// Uncertain properties of the key.
    pub notes: Vec<KeyNote>,
    /// The sources of the executors' memory.
    pub memory: MemoryCounts,
    /// The number of ended tasks.
    pub tasks: u64,
    /// The number of requested executors; None with dynamic allocation.
    pub executors: Option<f64>,
    /// The cores of an executor.
    pub executor_cores: f64,
    /// The memory of an executor's container.
    pub executor_memory_bytes: f64,
    /// Bytes that tasks read from outside the application.
    pub input_bytes: f64,
    /// The version of Spark that wrote the log.
    pub spark_version: Option<String>,
}

/// Reads one log.
///
/// # Errors
/// A file cannot be read, decoded or parsed, or the log names no application or no executor. An
/// incomplete last line is ignored.
pub fn read(log: &EventLog, options: &ImportOptions) -> Result<Imported, LogError> {
    let mut application = Application::default();
    for part in &log.parts {
        read_part(part, &mut application)?;
    }
    imported(log, application, options)
}

fn read_part(part: &Path, application: &mut Application) -> Result<(), LogError> {
    let mut lines = Lines::new(codec::open(part)?);
    while let Some(line) = lines.next().map_err(LogError::file(part))? {
        let problem = match event::name_of(line.text) {
            Some(name) => match application.event(&name, line.text) {
                Ok(()) => continue,
                Err(error) => format!("{name}: {error}"),
            },
            None if line.text.is_empty() => continue,
            None if line.number == 1 => {
                let path = part.to_owned();
                return Err(LogError::NotALog { path });
            }
            None => "not an event of Spark".to_owned(),
        };
        // An incomplete line means that the writer was killed; the lines before are valid.
        if line.is_whole {
            return Err(LogError::Line {
                path: part.to_owned(),
                line: line.number,
                problem,
            });
        }
    }
    Ok(())
}

fn imported(
    log: &EventLog,
    mut application: Application,
    options: &ImportOptions,
) -> Result<Imported, LogError> {
    let path = || log.path.clone();
    let start = application.start.take().filter(|start| start.id.is_some());
    let start = start.ok_or_else(|| LogError::NoApplication { path: path() })?;
    let environment = application.environment.take();
    let environment = environment.ok_or_else(|| LogError::NoApplication { path: path() })?;
    if !application.has_executors() {
        return Err(LogError::NoExecutor { path: path() });
    }
    let properties = Properties(&environment.spark);
    let (submission, notes) = submission(&start, &environment, options);
    let (series, memory) = application.series(&properties);
    let run = Run {
        application_key: signature(&submission).key,
        application_id: submission.id.clone(),
        application_name: submission.name.clone(),
        started_ms: start.at_ms,
        ended_ms: application.ended_ms(),
        outcome: application.outcome(),
        series,
    };
    Ok(Imported {
        run,
        attempt: start.attempt.and_then(|attempt| attempt.parse().ok()),
        submission,
        notes,
        memory,
        tasks: application.tasks,
        executors: properties.executors(),
        executor_cores: properties.executor_cores(),
        executor_memory_bytes: properties.executor_bytes(&ProfileRequests::new()),
        input_bytes: application.input_bytes,
        spark_version: application.spark_version,
    })
}
