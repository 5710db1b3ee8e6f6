//! The decisions of earlier processes, from the end of the journal.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use elastane_store::check_private_file;

use crate::journal::{JournalEvent, Record};

/// The most that is read of the journal, so that a start is not held up: a fraction of a second.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The newest decisions of the journal and of the file that it replaced, at most so many, oldest first. Files that cannot
/// be read have none, nor have lines that are no decisions.
pub(super) fn newest(journal: &Path, most: usize) -> Vec<Record> {
    let current = lines_at_end(journal, MOST_BYTES);
    let left_bytes = MOST_BYTES.saturating_sub(current.len() as u64);
    let replaced = lines_at_end(&replaced(journal), left_bytes);
    let lines = [&current, &replaced].into_iter().flat_map(|it| it.rsplit(|byte| *byte == b'\n'));
    let records = lines.filter_map(|line| serde_json::from_slice::<Record>(line).ok());
    let decisions = records.filter(|it| !matches!(it.event, JournalEvent::Other));
    let mut newest: Vec<_> = decisions.take(most).collect();
    newest.reverse();
    newest
}

/// The file that a full journal becomes.
pub(crate) fn replaced(journal: &Path) -> PathBuf {
    let mut name = journal.to_owned().into_os_string();
    name.push(".1");
    name.into()
}

fn lines_at_end(path: &Path, most_bytes: u64) -> Vec<u8> {
    read_lines_at_end(path, most_bytes).unwrap_or_else(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            log::warn!("former decisions in {} cannot be read: {error}", path.display());
        }
        Vec::new()
    })
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
