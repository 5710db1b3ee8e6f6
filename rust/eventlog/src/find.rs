//! Finds the event logs of a path.

use std::fs;
use std::path::{Path, PathBuf};

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
    /// A log that is not imported.
    Skipped {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        reason: SkipReason,
    },
    /// A log that cannot be read.
    Unreadable(LogError),
}

/// Why a log is not imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// Spark still writes the log, or died while writing it.
    #[error("in progress")]
    InProgress,
}

/// The logs of a path, which is a log, the folder of a rolling log, or a folder of both, such as a
/// History Server's. Hidden files and checksum files are ignored.
///
/// # Errors
/// The path cannot be read.
pub fn find(path: &Path) -> Result<Vec<Found>, LogError> {
    let metadata = fs::metadata(path).map_err(LogError::file(path))?;
    if !metadata.is_dir() {
        return Ok(vec![single(path)]);
    }
    if name(path).starts_with(ROLLING) {
        return Ok(vec![rolling(path)]);
    }
    let found = entries(path)?.into_iter().filter_map(|entry| {
        if !entry.is_dir() {
            Some(single(&entry))
        } else if name(&entry).starts_with(ROLLING) {
            Some(rolling(&entry))
        } else {
            None
        }
    });
    Ok(found.collect())
}

fn single(path: &Path) -> Found {
    if name(path).ends_with(IN_PROGRESS) {
        return in_progress(path);
    }
    Found::Log(EventLog {
        path: path.to_owned(),
        parts: vec![path.to_owned()],
    })
}

fn in_progress(path: &Path) -> Found {
    Found::Skipped {
        path: path.to_owned(),
        reason: SkipReason::InProgress,
    }
}

fn rolling(folder: &Path) -> Found {
    let entries = match entries(folder) {
        Ok(entries) => entries,
        Err(error) => return Found::Unreadable(error),
    };
    let is_open = |entry: &PathBuf| {
        let name = name(entry);
        name.starts_with("appstatus_") && name.ends_with(IN_PROGRESS)
    };
    if entries.iter().any(is_open) {
        return in_progress(folder);
    }
    match parts(folder, entries) {
        Ok(parts) => Found::Log(EventLog {
            path: folder.to_owned(),
            parts,
        }),
        Err(error) => Found::Unreadable(error),
    }
}

/// All parts of a rolling log, `events_1_…`, `events_2_…`, in order.
fn parts(folder: &Path, entries: Vec<PathBuf>) -> Result<Vec<PathBuf>, LogError> {
    let path = || folder.to_owned();
    let mut parts: Vec<(u64, PathBuf)> = entries
        .into_iter()
        .filter_map(|entry| Some((part_number(&name(&entry))?, entry)))
        .collect();
    if parts
        .iter()
        .any(|(_, part)| name(part).ends_with(".compact"))
    {
        return Err(LogError::Compacted { path: path() });
    }
    parts.sort();
    let numbers = parts.iter().map(|(number, _)| *number);
    match (1..).zip(numbers).find(|(wanted, number)| wanted != number) {
        Some((number, _)) => Err(LogError::MissingPart {
            path: path(),
            number,
        }),
        None if parts.is_empty() => Err(LogError::MissingPart {
            path: path(),
            number: 1,
        }),
        None => Ok(parts.into_iter().map(|(_, part)| part).collect()),
    }
}

fn part_number(name: &str) -> Option<u64> {
    name.strip_prefix("events_")?
        .split('_')
        .next()?
        .parse()
        .ok()
}

/// The entries of a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let mut entries = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| Ok(entry?.path()))
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(LogError::file(folder))?;
    entries.retain(|entry| {
        let name = name(entry);
        !name.starts_with('.') && !name.ends_with(".crc")
    });
    entries.sort();
    Ok(entries)
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
