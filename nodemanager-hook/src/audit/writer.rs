//! Writes the audit file on a thread of its own: its disk may hang, and limits go on meanwhile.

use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

/// How long whoever has lines to write waits for them.
pub const WITHIN: Duration = Duration::from_millis(500);
/// A write takes some microseconds. After one that took longer, nobody waits for the next.
const SLOW_FROM: Duration = Duration::from_millis(50);
/// What may wait for the disk.
const MOST_BYTES: usize = 1 << 20;

/// Why lines are not in the file.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{0}")]
    Failed(#[from] io::Error),
    #[error("its disk does not answer: lines wait")]
    Waits,
    #[error("its disk does not answer: {bytes} bytes are lost")]
    Lost { bytes: usize },
    #[error("its thread has ended: {bytes} bytes are lost")]
    Ended { bytes: usize },
}

#[derive(Debug)]
pub struct Writer {
    lines: Sender<Vec<u8>>,
    written: Receiver<Written>,
    within: Duration,
    is_writing: bool,
    is_slow: bool,
}

#[derive(Debug)]
struct Written {
    result: io::Result<()>,
    took: Duration,
}

impl Writer {
    pub fn start(
        within: Duration,
        mut append: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, queue) = mpsc::channel::<Vec<u8>>();
        let (sender, written) = mpsc::channel();
        let thread = thread::Builder::new().name("audit".into());
        thread.spawn(move || {
            let results = queue.iter().map(|lines| {
                let begun = Instant::now();
                Written { result: append(&lines), took: begun.elapsed() }
            });
            results.map_while(|one| sender.send(one).ok()).for_each(drop);
        })?;
        Ok(Self { lines, written, within, is_writing: false, is_slow: false })
    }

    /// Takes the lines, unless others are being written, and waits for them, unless the disk is slow.
    pub fn write(&mut self, lines: &mut Vec<u8>) -> Result<(), WriteError> {
        self.collect(Duration::ZERO)?;
        if self.is_writing {
            return match lines.len() {
                0..=MOST_BYTES => Ok(()),
                bytes => {
                    lines.clear();
                    Err(WriteError::Lost { bytes })
                }
            };
        }
        self.send(lines)?;
        if self.is_slow {
            return Ok(());
        }
        self.collect(self.within)?;
        self.is_slow |= self.is_writing;
        if self.is_writing { Err(WriteError::Waits) } else { Ok(()) }
    }

    /// Writes the last lines.
    pub fn end(mut self, mut lines: Vec<u8>, within: Duration) -> Result<(), WriteError> {
        let deadline = Instant::now() + within;
        let mut failed = Ok(());
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            failed = failed.and(self.collect(left));
            if self.is_writing {
                return Err(WriteError::Lost { bytes: lines.len() });
            }
            if lines.is_empty() {
                return failed.map_err(WriteError::from);
            }
            self.send(&mut lines)?;
        }
    }

    fn send(&mut self, lines: &mut Vec<u8>) -> Result<(), WriteError> {
        if lines.is_empty() {
            return Ok(());
        }
        let sent = self.lines.send(std::mem::take(lines));
        sent.map_err(|unsent| WriteError::Ended { bytes: unsent.0.len() })?;
        self.is_writing = true;
        Ok(())
    }

    fn collect(&mut self, within: Duration) -> io::Result<()> {
        if !self.is_writing {
            return Ok(());
        }
        let Ok(Written { result, took }) = self.written.recv_timeout(within) else {
            return Ok(());
        };
        self.is_writing = false;
        self.is_slow = took >= SLOW_FROM;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A disk that hangs until `let_go` is dropped.
    struct Disk {
        let_go: Sender<()>,
        taken: Receiver<Vec<u8>>,
    }

    impl Disk {
        fn with_writer(within: Duration) -> (Self, Writer) {
            let (let_go, held) = mpsc::channel();
            let (sender, taken) = mpsc::channel();
            let append = move |lines: &[u8]| {
                let _ = held.recv();
                sender.send(lines.to_vec()).map_err(io::Error::other)
            };
            (Self { let_go, taken }, Writer::start(within, append).unwrap())
        }
    }

    #[test]
    fn a_disk_that_hangs_delays_once_and_gets_all_lines_later() {
        let (disk, mut writer) = Disk::with_writer(Duration::from_millis(100));
        let mut lines = b"one\n".to_vec();
        assert!(matches!(writer.write(&mut lines), Err(WriteError::Waits)));
        let begun = Instant::now();
        for _ in 0..1000 {
            lines.extend(b"more\n");
            writer.write(&mut lines).unwrap();
        }
        assert!(begun.elapsed() < PATIENCE, "each one waited");
        drop(disk.let_go);
        writer.end(lines, PATIENCE).unwrap();
        let taken: Vec<usize> = disk.taken.iter().map(|lines| lines.len()).collect();
        assert_eq!(taken, [4, 5000]);
    }

    #[test]
    fn what_waits_is_bounded_and_what_is_lost_is_told() {
        let (_disk, mut writer) = Disk::with_writer(Duration::ZERO);
        let mut lines = vec![b'a'];
        assert!(matches!(writer.write(&mut lines), Err(WriteError::Waits)));
        lines = vec![b'a'; MOST_BYTES + 1];
        let error = writer.write(&mut lines).unwrap_err();
        assert!(matches!(error, WriteError::Lost { bytes } if bytes > MOST_BYTES), "{error}");
        assert!(lines.is_empty());
        let error = writer.end(vec![b'a'; 7], Duration::ZERO).unwrap_err();
        assert!(matches!(error, WriteError::Lost { bytes: 7 }), "{error}");
    }

    #[test]
    fn a_failure_is_told_with_the_lines_or_later() {
        let fails = |_: &[u8]| Err(io::Error::other("disk full"));
        let mut writer = Writer::start(PATIENCE, fails).unwrap();
        let error = writer.write(&mut vec![b'a']).unwrap_err();
        assert_eq!(error.to_string(), "disk full");
        let writer = Writer::start(Duration::ZERO, fails).unwrap();
        let error = writer.end(vec![b'a'], PATIENCE).unwrap_err();
        assert_eq!(error.to_string(), "disk full");
    }
}
