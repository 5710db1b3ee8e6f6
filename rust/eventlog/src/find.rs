//! Finds the event logs of a path.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::LogError;

/// Prefix of the folder of a rolling log.
const ROLLING: &str = "eventlog_v2_";
const IN_PROGRESS: &str = ".inprogress";

/// The log of an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLog {
    /// The file, or the folder of a rolling log.
    pub path: PathBuf,
    /// The files that hold the events, in order.
    pub(crate) parts: Vec<PathBuf>,
}

/// An entry of a path.
#[derive(Debug)]
pub enum Found {
    /// A complete log.
    Log(EventLog),
    /// A log that Spark still writes, or died while writing.
    InProgress(PathBuf),
    /// A log that cannot be read.
    Unreadable(LogError),
}

/// The logs of a path, which is a log, the folder of a rolling log, or a folder of both, such as a
/// History Server's. Hidden files and checksum files are ignored.
///
/// # Errors
/// The path cannot be read.
pub fn find(path: &Path) -> Result<Vec<Found>, LogError> {
    let metadata = fs::metadata(path).map_err(|error| LogError::new(path, error))?;
    let is_folder_of_logs = metadata.is_dir() && !name(path).starts_with(ROLLING);
    let entries = match is_folder_of_logs {
        true => entries(path)?,
        false => vec![path.to_owned()],
    };
    let found = entries.into_iter().filter_map(|entry| {
        let is_rolling = name(&entry).starts_with(ROLLING);
        match entry.is_dir() {
            true => is_rolling.then(|| rolling(&entry).unwrap_or_else(Found::Unreadable)),
            false if name(&entry).ends_with(IN_PROGRESS) => Some(Found::InProgress(entry)),
            false => Some(Found::Log(EventLog { parts: vec![entry.clone()], path: entry })),
        }
    });
    Ok(found.collect())
}

/// A rolling log, with its parts `events_1_…`, `events_2_…` in order.
fn rolling(folder: &Path) -> Result<Found, LogError> {
    let mut parts = Vec::new();
    for entry in entries(folder)? {
        let name = name(&entry);
        if name.starts_with("appstatus_") && name.ends_with(IN_PROGRESS) {
            return Ok(Found::InProgress(folder.to_owned()));
        }
        parts.extend(part_number(&name).map(|number| (number, entry)));
    }
    if parts.iter().any(|(_, part)| name(part).ends_with(".compact")) {
        let problem = "compacted by the History Server, events are missing";
        return Err(LogError::new(folder, problem));
    }
    parts.sort();
    let in_order = (1..).zip(&parts).take_while(|(wanted, (number, _))| wanted == number);
    let in_order = in_order.count();
    if parts.is_empty() || in_order < parts.len() {
        let problem = format!("part {} is missing", in_order + 1);
        return Err(LogError::new(folder, problem));
    }
    Ok(Found::Log(EventLog {
        path: folder.to_owned(),
        parts: parts.into_iter().map(|(_, part)| part).collect(),
    }))
}

fn part_number(name: &str) -> Option<u64> {
    let number = name.strip_prefix("events_")?.split('_').next()?;
    number.parse().ok()
}

/// The entries of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let failed = |error: io::Error| LogError::new(folder, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = name(&path);
        if !name.starts_with('.') && !name.ends_with(".crc") {
            entries.push(path);
        }
    }
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
