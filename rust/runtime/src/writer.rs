//! The journal's file: JSON lines, bounded in size, written by its own thread.

use std::fs::{File, rename};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use elastane_store::{check_private_file, make_private_folder, private_file_options};

use crate::backoff::Backoff;
use crate::counters::{Counters, count};
use crate::decisions::replaced;
use crate::journal::Record;

/// At this size the file replaces `NAME.1`, and a new one begins.
const ROTATE_AT_BYTES: u64 = 64 * 1024 * 1024;

/// Records beyond this queue are dropped and counted: a heartbeat never waits for a disk.
const QUEUE: usize = 8_192;

/// Time after a batch in which the thread lets records queue. A thread that waits for a record has to be woken for
/// each, which would cost a heartbeat more than all else that it does for a record.
const GATHERED_FOR: Duration = Duration::from_millis(20);

/// Hands records to the thread that writes them.
#[derive(Default)]
pub(crate) struct JournalWriter {
    sender: Option<SyncSender<Arc<Record>>>,
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

    pub(crate) fn write(&self, record: Arc<Record>) {
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
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if thread.join().is_err() {
                log::error!("the journal's thread panicked");
            }
        }
    }
}

/// The thread's side: the file, or when to try again to open it.
struct Journal {
    path: PathBuf,
    /// None while it cannot be opened, and after a failure to write it.
    file: Option<JournalFile>,
    trouble: Option<Trouble>,
    counters: Arc<Counters>,
}

/// What lasts since the file could not be opened or written.
struct Trouble {
    backoff: Backoff,
    /// It could not be written: one that can be opened is not yet one that takes records.
    in_writing: bool,
}

impl Journal {
    fn open(path: PathBuf, counters: Arc<Counters>) -> Self {
        let opened = JournalFile::open(&path, ROTATE_AT_BYTES);
        if let Ok(JournalFile { readable_by_others: Some(mode), .. }) = opened {
            let path = path.display();
            log::warn!("the journal {path} can be read by others than its owner: mode {mode:o}");
        }
        let mut journal = Self { path, file: None, trouble: None, counters };
        match opened {
            Ok(file) => journal.file = Some(file),
            Err(error) => journal.failed(error, false),
        }
        journal
    }

    fn write_all(mut self, records: &Receiver<Arc<Record>>, dropped: &AtomicU64) {
        loop {
            let first = match self.next(records) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            let batch = first.into_iter().chain(std::iter::from_fn(|| records.try_recv().ok()));
            dropped.fetch_add(self.write(batch), Relaxed);
            // Ends early when the writer is closed.
            std::thread::park_timeout(GATHERED_FOR);
        }
    }

    fn next(&self, records: &Receiver<Arc<Record>>) -> Result<Arc<Record>, RecvTimeoutError> {
        match (&self.file, &self.trouble) {
            (None, Some(trouble)) => records.recv_timeout(trouble.backoff.left(Instant::now())),
            _ => records.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Writes the records to the file, which is opened first where that is due; gives the number of
    /// those that are lost.
    fn write(&mut self, mut batch: impl Iterator<Item = Arc<Record>>) -> u64 {
        self.try_again();
        let Some(file) = &mut self.file else {
            return batch.count() as u64;
        };
        let mut count = 0;
        let written = batch.try_for_each(|record| {
            count += 1;
            file.append(&record)
        });
        match written.and_then(|()| file.file.flush()) {
            Err(error) => {
                self.failed(error, true);
                count
            }
            Ok(()) if count > 0 => {
                self.trouble = None;
                self.tell(Ok(()));
                0
            }
            Ok(()) => 0,
        }
    }

    /// Opens the file where that is due.
    fn try_again(&mut self) {
        let is_due = |it: &Trouble| it.backoff.left(Instant::now()).is_zero();
        if self.file.is_some() || !self.trouble.as_ref().is_some_and(is_due) {
            return;
        }
        match JournalFile::open(&self.path, ROTATE_AT_BYTES) {
            Ok(file) => {
                self.file = Some(file);
                if self.trouble.take_if(|it| !it.in_writing).is_some() {
                    self.tell(Ok(()));
                }
            }
            Err(error) => self.failed(error, false),
        }
    }

    /// The file may not be where records belong any more: it is opened anew, later.
    fn failed(&mut self, error: io::Error, in_writing: bool) {
        self.file = None;
        let now = Instant::now();
        match &mut self.trouble {
            Some(trouble) => {
                trouble.backoff.failed(now);
                trouble.in_writing |= in_writing;
            }
            None => self.trouble = Some(Trouble { backoff: Backoff::new(now), in_writing }),
        }
        self.tell(Err(error));
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
        let file = private_file_options().read(true).append(true).open(path)?;
        let mut bytes = file.metadata()?.len();
        let is_torn = bytes > 0 && last_byte(&file, bytes)? != b'\n';
        let mut file = BufWriter::new(file);
        if is_torn {
            // A record that could not be written whole spoils no other.
            file.write_all(b"\n")?;
            bytes += 1;
        }
        let path = path.to_owned();
        Ok(Self { path, file, bytes, rotate_at_bytes, readable_by_others })
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        if self.bytes > 0 && self.bytes + line.len() as u64 > self.rotate_at_bytes {
            self.file.flush()?;
            match rename(&self.path, replaced(&self.path)) {
                // Somebody else moved it away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved?,
            }
            *self = Self::open(&self.path, self.rotate_at_bytes)?;
        }
        self.file.write_all(&line)?;
        self.bytes += line.len() as u64;
        Ok(())
    }
}

fn last_byte(file: &File, length: u64) -> io::Result<u8> {
    let mut byte = [0];
    file.read_exact_at(&mut byte, length - 1)?;
    Ok(byte[0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::JournalEvent;

    fn record(time_ms: i64) -> Arc<Record> {
        let reason = "the agent reports".into();
        let event = JournalEvent::Bookable { node: "node-1:1".into(), ratio: 2.0, reason };
        Arc::new(Record { time_ms, queue: None, event })
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
    fn records_are_written_while_the_writer_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut writer = JournalWriter::open(Some(path.clone()), &Arc::default()).unwrap();
        let lines = || std::fs::read_to_string(&path).map_or(0, |text| text.lines().count());
        for written in 1..=3 {
            writer.write(record(0));
            let began = Instant::now();
            while lines() < written {
                assert!(began.elapsed() < Duration::from_secs(30), "{} of {written}", lines());
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        writer.close();
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
    fn a_full_file_that_somebody_moved_away_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let mut file = JournalFile::open(&path, 200).unwrap();
        for time_ms in 0..10 {
            if time_ms == 1 {
                std::fs::rename(&path, folder.path().join("elsewhere")).unwrap();
            }
            file.append(&record(time_ms)).unwrap();
        }
        file.file.flush().unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().is_empty());
    }

    /// The next attempt is due.
    fn wait(journal: &mut Journal) {
        let long_ago = Instant::now() - Duration::from_secs(1);
        journal.trouble.as_mut().unwrap().backoff = Backoff::new(long_ago);
    }

    #[test]
    fn a_file_that_cannot_be_written_or_moved_aside_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let former = folder.path().join("journal.jsonl.1");
        std::fs::create_dir(&former).unwrap();
        let full = JournalFile::open(Path::new("/dev/full"), ROTATE_AT_BYTES).unwrap();
        let not_movable = JournalFile::open(&path, 1).unwrap();
        for file in [JournalFile { path: path.clone(), ..full }, not_movable] {
            let counters = Arc::new(Counters::new());
            let is_in_service = || counters.journal_in_service.load(Relaxed);
            let mut journal = Journal::open(path.clone(), Arc::clone(&counters));
            journal.file = Some(file);
            let two = || [record(1), record(2)].into_iter();
            assert!(journal.write(two()) > 0);
            assert_eq!(journal.write(two()), 2, "it is not yet tried again");
            assert!(!is_in_service());
            assert_eq!(counters.journal_failures.load(Relaxed), 1);
            let before = std::fs::read_to_string(&path).unwrap().lines().count();
            wait(&mut journal);
            assert_eq!(journal.write(two()), 0);
            assert!(is_in_service() && journal.trouble.is_none());
            assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), before + 2);
        }
    }

    #[test]
    fn a_file_that_can_be_opened_and_not_written_stays_out_of_service() {
        let counters = Arc::new(Counters::new());
        let is_in_service = || counters.journal_in_service.load(Relaxed);
        let mut journal = Journal::open(PathBuf::from("/dev/full"), Arc::clone(&counters));
        assert!(is_in_service());
        for attempts in 1..=3 {
            assert_eq!(journal.write([record(0)].into_iter()), 1);
            assert_eq!(counters.journal_failures.load(Relaxed), attempts);
            wait(&mut journal);
            assert_eq!(journal.write([].into_iter()), 0);
            assert!(journal.file.is_some() && !is_in_service());
        }
    }

    #[test]
    fn what_could_not_be_written_whole_spoils_no_other_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        std::fs::write(&path, "{\"time_ms\":1,\"kin").unwrap();
        let mut file = JournalFile::open(&path, 200).unwrap();
        file.append(&record(7)).unwrap();
        file.file.flush().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(lines[1]).unwrap()["time_ms"], 7);
    }

    #[test]
    fn without_a_file_nothing_is_written_or_dropped() {
        let writer = JournalWriter::open(None, &Arc::default()).unwrap();
        writer.write(record(0));
        assert_eq!(writer.dropped(), 0);
    }
}
