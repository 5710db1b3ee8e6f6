//! The journal's file: JSON lines, bounded in size, written by its own thread.

use std::fs::{File, rename};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use elastane_store::{check_private_file, make_private_folder, private_file_options};

use crate::backoff::Backoff;
use crate::counters::{Counters, count};
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
    /// Without a path nothing is written. A file that cannot be opened is tried again until it can.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn open(path: Option<PathBuf>, counters: &Arc<Counters>) -> io::Result<Self> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let dropped = Arc::new(AtomicU64::new(0));
        let journal = Journal::open(path, Arc::clone(counters));
        let (sender, receiver) = sync_channel(QUEUE);
        let lost = Arc::clone(&dropped);
        let thread = std::thread::Builder::new()
            .name("elastane-journal".into())
            .spawn(move || journal.write_all(&receiver, &lost))?;
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

/// The thread's side: the file, or when to try again to open it.
struct Journal {
    path: PathBuf,
    file: Result<JournalFile, Backoff>,
    counters: Arc<Counters>,
}

impl Journal {
    fn open(path: PathBuf, counters: Arc<Counters>) -> Self {
        let opened = JournalFile::open(&path, ROTATE_AT_BYTES);
        if let Ok(JournalFile { readable_by_others: Some(mode), .. }) = opened {
            let path = path.display();
            log::warn!("the journal {path} can be read by others than its owner: mode {mode:o}");
        }
        let mut journal = Self { path, file: Err(Backoff::new(Instant::now())), counters };
        let told = opened.map(|file| journal.file = Ok(file));
        journal.tell(told);
        journal
    }

    fn write_all(mut self, records: &Receiver<Record>, dropped: &AtomicU64) {
        loop {
            let first = match self.next(records) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            self.try_again();
            let batch = first.into_iter().chain(std::iter::from_fn(|| records.try_recv().ok()));
            let mut count = 0;
            let Ok(file) = &mut self.file else {
                dropped.fetch_add(batch.count() as u64, Relaxed);
                continue;
            };
            let written = batch.into_iter().try_for_each(|record| {
                count += 1;
                file.append(&record)
            });
            let written = written.and_then(|()| file.file.flush());
            if written.is_err() {
                dropped.fetch_add(count, Relaxed);
            }
            if count > 0 {
                self.tell(written);
            }
        }
    }

    fn next(&self, records: &Receiver<Record>) -> Result<Record, RecvTimeoutError> {
        match &self.file {
            Ok(_) => records.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Err(backoff) => records.recv_timeout(backoff.left(Instant::now())),
        }
    }

    /// Opens the file where that is due.
    fn try_again(&mut self) {
        let now = Instant::now();
        let Err(backoff) = &mut self.file else {
            return;
        };
        if !backoff.left(now).is_zero() {
            return;
        }
        backoff.failed(now);
        let opened = JournalFile::open(&self.path, ROTATE_AT_BYTES);
        let told = opened.map(|file| self.file = Ok(file));
        self.tell(told);
    }

    /// Counts a failure; logs the first one, and the first success after it.
    fn tell(&self, done: io::Result<()>) {
        let in_service = &self.counters.journal_in_service;
        let was_in_service = in_service.swap(done.is_ok(), Relaxed);
        let path = self.path.display();
        match done {
            Err(error) => {
                count(&self.counters.journal_failures);
                if was_in_service {
                    log::error!("the journal {path} cannot be written, records are lost: {error}");
                }
            }
            Ok(()) if !was_in_service => log::warn!("the journal {path} is written again"),
            Ok(()) => {}
        }
    }
}

struct JournalFile {
    path: PathBuf,
    file: BufWriter<File>,
    bytes: u64,
    rotate_at_bytes: u64,
    /// Its mode, where group or others can read it.
    readable_by_others: Option<u32>,
}

impl JournalFile {
    fn open(path: &Path, rotate_at_bytes: u64) -> io::Result<Self> {
        make_private_folder(path)?;
        let readable_by_others = check_private_file(path).map_err(io::Error::other)?;
        let file = private_file_options().append(true).open(path)?;
        let bytes = file.metadata()?.len();
        let (path, file) = (path.to_owned(), BufWriter::new(file));
        Ok(Self { path, file, bytes, rotate_at_bytes, readable_by_others })
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
        let mut writer = JournalWriter::open(Some(path.clone()), &Arc::default()).unwrap();
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
        let writer = JournalWriter::open(None, &Arc::default()).unwrap();
        writer.write(record(0));
        assert_eq!(writer.dropped(), 0);
    }
}
