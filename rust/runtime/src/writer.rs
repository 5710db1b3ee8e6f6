//! The journal's file: JSON lines, bounded in size, written by its own thread.

use std::fs::{File, OpenOptions, rename};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use crate::journal::Record;

/// At this size the file replaces `NAME.1`, and a new one begins.
const ROTATE_AT_BYTES: u64 = 64 * 1024 * 1024;

/// Records beyond this queue are dropped and counted: a heartbeat never waits for a disk.
const QUEUE: usize = 8_192;

/// Hands records to the thread that writes them.
#[derive(Default)]
pub(crate) struct JournalWriter {
    sender: Option<SyncSender<Record>>,
    thread: Option<JoinHandle<()>>,
    dropped: Arc<AtomicU64>,
}

impl JournalWriter {
    /// Without a file nothing is written.
    pub(crate) fn open(file: Option<&Path>) -> io::Result<Self> {
        let Some(path) = file else {
            return Ok(Self::default());
        };
        let dropped = Arc::new(AtomicU64::new(0));
        let file = JournalFile::open(path, ROTATE_AT_BYTES)?;
        let (sender, receiver) = sync_channel(QUEUE);
        let lost = Arc::clone(&dropped);
        let thread = std::thread::Builder::new()
            .name("elastane-journal".into())
            .spawn(move || write_all(file, &receiver, &lost))?;
        Ok(Self { sender: Some(sender), thread: Some(thread), dropped })
    }

    pub(crate) fn write(&self, record: Record) {
        let Some(sender) = &self.sender else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = sender.try_send(record)
        {
            self.dropped.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Writes what waits and ends the thread.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the journal's thread panicked");
        }
    }
}

fn write_all(mut file: JournalFile, records: &Receiver<Record>, dropped: &AtomicU64) {
    let mut failing = false;
    while let Ok(first) = records.recv() {
        let mut count = 0;
        let written = std::iter::once(first)
            .chain(std::iter::from_fn(|| records.try_recv().ok()))
            .try_for_each(|record| {
                count += 1;
                file.append(&record)
            })
            .and_then(|()| file.file.flush());
        if written.is_err() {
            dropped.fetch_add(count, Relaxed);
        }
        let was_failing = std::mem::replace(&mut failing, written.is_err());
        let path = file.path.display();
        match written {
            Err(error) if !was_failing => {
                log::error!("the journal {path} cannot be written, records are lost: {error}");
            }
            Ok(()) if was_failing => log::warn!("the journal {path} is written again"),
            _ => {}
        }
    }
}

struct JournalFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    rotate_at_bytes: u64,
}

impl JournalFile {
    fn open(path: &Path, rotate_at_bytes: u64) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), bytes, rotate_at_bytes })
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.rotate_at_bytes {
            self.file.flush()?;
            let mut former = self.path.clone().into_os_string();
            former.push(".1");
            rename(&self.path, former)?;
            *self = Self::open(&self.path, self.rotate_at_bytes)?;
        }
        self.file.write_all(&line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalEvent;

    fn record(time_ms: i64) -> Record {
        let reason = "the agent reports".into();
        Record {
            time_ms,
            event: JournalEvent::Bookable { node: "node-1:1".into(), ratio: 2.0, reason },
        }
    }

    #[test]
    fn every_record_is_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/journal.jsonl");
        let mut writer = JournalWriter::open(Some(&path)).unwrap();
        for time_ms in 0..100 {
            writer.write(record(time_ms));
        }
        writer.close();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 100);
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["kind"], "bookable");
        assert_eq!(writer.dropped(), 0);
    }

    #[test]
    fn a_full_file_moves_aside_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut file = JournalFile::open(&path, 200).unwrap();
        for time_ms in 0..10 {
            file.append(&record(time_ms)).unwrap();
        }
        file.file.flush().unwrap();
        assert!(std::fs::metadata(&path).unwrap().len() <= 200);
        let former = std::fs::read_to_string(folder.path().join("journal.jsonl.1")).unwrap();
        assert!(!former.is_empty());
    }

    #[test]
    fn without_a_file_nothing_is_written_or_dropped() {
        let writer = JournalWriter::open(None).unwrap();
        writer.write(record(0));
        assert_eq!(writer.dropped(), 0);
    }
}
