//! Converts an event log to a run.

use std::io::{BufRead, Read};
use std::path::Path;

use elastane_predict::{Run, Submission, signature};

use crate::application::LoggedApplication;
use crate::codec;
use crate::error::LogError;
use crate::event::{self, ProfileRequests};
use crate::find::EventLog;
use crate::memory::MemoryCounts;
use crate::properties::Properties;
use crate::submission::{ImportOptions, KeyNote, submission};

/// The longest line, with room for the SQL plans that Spark writes into one line.
const MOST_LINE_BYTES: u64 = 1 << 26;

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
    let mut application = LoggedApplication::default();
    for part in &log.parts {
        read_part(part, &mut application)?;
    }
    imported(log, application, options)
}

fn read_part(part: &Path, application: &mut LoggedApplication) -> Result<(), LogError> {
    let mut reader = codec::open(part)?;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = Read::take(&mut reader, MOST_LINE_BYTES);
        let read = limited.read_until(b'\n', &mut line);
        if read.map_err(|error| LogError::new(part, error))? == 0 {
            break;
        }
        let at_line = |problem: String| LogError::new(part, format!("line {number}: {problem}"));
        if line.len() as u64 == MOST_LINE_BYTES {
            return Err(at_line(format!("longer than {MOST_LINE_BYTES} bytes")));
        }
        let text = line.trim_ascii_end();
        let problem = match event::name_of(text) {
            Some(name) => match application.event(&name, text) {
                Ok(()) => continue,
                Err(error) => format!("{name}: {error}"),
            },
            None if text.is_empty() => continue,
            None if number == 1 => return Err(LogError::new(part, "not a Spark event log")),
            None => "not an event of Spark".to_owned(),
        };
        // An incomplete line means that the writer was killed; the lines before are valid.
        if line.ends_with(b"\n") {
            return Err(at_line(problem));
        }
    }
    Ok(())
}

fn imported(
    log: &EventLog,
    mut application: LoggedApplication,
    options: &ImportOptions,
) -> Result<Imported, LogError> {
    let start = application.start.take().filter(|start| start.id.is_some());
    let Some((start, environment)) = start.zip(application.environment.take()) else {
        return Err(LogError::new(&log.path, "no event names the application"));
    };
    if !application.has_executors() {
        return Err(LogError::new(&log.path, "no executor started"));
    }
    let properties = Properties(&environment.spark);
    let (submission, notes) = submission(&start, &environment, options);
    let (series, memory) = application.series(&properties);
    let run = Run {
        application_key: signature(&submission),
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
