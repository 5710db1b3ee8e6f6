//! The decisions of earlier processes, from the end of the journal.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use elastane_store::{check_private_file, with_suffix};

use crate::journal::{JournalEvent, Record};

/// The most that is read of the journal, so that a start is not held up: a fraction of a second.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The newest decisions of the journal and of the file that it replaced, at most `most`, oldest first. What cannot be read
/// is left out. The replaced file counts only if the current one was read from its beginning, so that no decisions between
/// the two are missing.
pub(super) fn newest(journal: &Path, most: usize) -> Vec<Record> {
    newest_within(journal, most, MOST_BYTES)
}

fn newest_within(journal: &Path, most: usize, most_bytes: u64) -> Vec<Record> {
    let mut newest = Vec::new();
    let mut take = |path: &Path, lines: &[u8]| {
        let failed = take_newest(lines, most, &mut newest);
        if failed > 0 {
            log::warn!(
                "{failed} lines at the end of {} are no decisions that can be read; they are left out",
                path.display()
            );
        }
    };
    let is_longer = journal.metadata().is_ok_and(|it| it.len() > most_bytes);
    if let Some(current) = lines_at_end(journal, most_bytes) {
        take(journal, &current);
        if !is_longer {
            let left_bytes = most_bytes.saturating_sub(current.len() as u64);
            let replaced = replaced(journal);
            take(&replaced, &lines_at_end(&replaced, left_bytes).unwrap_or_default());
        }
    }
    newest.reverse();
    newest
}

/// Adds decisions, newest first, until `newest` has `most`. Returns the number of lines that are no records.
fn take_newest(lines: &[u8], most: usize, newest: &mut Vec<Record>) -> usize {
    let mut failed = 0;
    for line in lines.rsplit(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        if newest.len() >= most {
            break;
        }
        match serde_json::from_slice::<Record>(line) {
            Ok(record) if matches!(record.event, JournalEvent::Other) => {}
            Ok(record) => newest.push(record),
            Err(_) => failed += 1,
        }
    }
    failed
}

/// The file that a full journal becomes.
pub(crate) fn replaced(journal: &Path) -> PathBuf {
    with_suffix(journal, ".1")
}

/// None if the file cannot be read; no lines if there is none.
fn lines_at_end(path: &Path, most_bytes: u64) -> Option<Vec<u8>> {
    match read_lines_at_end(path, most_bytes) {
        Ok(lines) => Some(lines),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Vec::new()),
        Err(error) => {
            log::warn!("former decisions in {} cannot be read: {error}", path.display());
            None
        }
    }
}

pub(super) fn read_lines_at_end(path: &Path, most_bytes: u64) -> io::Result<Vec<u8>> {
    check_private_file(path).map_err(io::Error::other)?;
    // A device or a pipe might not end.
    if !path.metadata()?.is_file() {
        return Ok(Vec::new());
    }
    let mut file = File::open(path)?;
    let begin = file.metadata()?.len().saturating_sub(most_bytes);
    file.seek(SeekFrom::Start(begin))?;
    let mut lines = Vec::new();
    file.take(most_bytes).read_to_end(&mut lines)?;
    if begin > 0 {
        let first_end = lines.iter().position(|byte| *byte == b'\n').unwrap_or(lines.len());
        lines.drain(..first_end);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "helpers of tests")]

    use super::*;

    const FINISHED: &str =
        "{\"time_ms\":1,\"kind\":\"finished\",\"container\":\"c\",\"node\":\"n\"}\n";

    #[test]
    fn the_replaced_file_is_read_only_after_all_of_the_current_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("decisions.jsonl");
        std::fs::write(&file, FINISHED.repeat(3)).unwrap();
        std::fs::write(replaced(&file), FINISHED).unwrap();
        let line_bytes = FINISHED.len() as u64;
        assert_eq!(newest_within(&file, 9, 5 * line_bytes).len(), 4);
        // Its first line is cut in its middle, and more is left than a line of the other takes.
        let most_bytes = 3 * line_bytes - 1;
        assert_eq!(newest_within(&file, 9, most_bytes).len(), 2);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(newest_within(&file, 9, most_bytes).len(), 1);
    }

    #[test]
    fn lines_that_are_no_records_are_counted() {
        let node = "{\"time_ms\":1,\"kind\":\"node\",\"node\":\"n\"}\n";
        let no_container = "{\"time_ms\":1,\"kind\":\"finished\",\"node\":\"n\"}\n";
        let lines = format!("\n{FINISHED}{node}{no_container}no JSON\n{FINISHED}{{\"time_ms\"");
        let mut newest = Vec::new();
        assert_eq!(take_newest(lines.as_bytes(), 9, &mut newest), 3);
        assert_eq!(newest.len(), 2);
    }
}
