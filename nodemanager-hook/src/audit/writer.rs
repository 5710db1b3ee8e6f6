//! Writes the audit file on a thread of its own: its disk may hang, and limits go on meanwhile.

use std::{
    io,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::Duration,
};

/// A write takes some microseconds.
const WITHIN: Duration = Duration::from_millis(100);
/// Groups of lines that may wait for the disk, each of some kilobytes.
const MOST_WAITING: usize = 64;

/// Why lines are not in the file.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{0}")]
    Failed(#[from] io::Error),
    #[error("its disk does not answer: {waiting} groups of lines wait, of {MOST_WAITING} that may")]
    Waits { waiting: usize },
    #[error("its disk does not answer: these lines are lost")]
    Lost,
}

#[derive(Debug)]
pub struct Writer {
    lines: Sender<Vec<u8>>,
    written: Receiver<io::Result<()>>,
    waiting: usize,
}

impl Writer {
    pub fn start(
        mut append: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, queue) = mpsc::channel::<Vec<u8>>();
        let (sender, written) = mpsc::channel();
        let thread = thread::Builder::new().name("audit".into());
        thread.spawn(move || {
            let results = queue.iter().map(|lines| append(&lines));
            results.map_while(|result| sender.send(result).ok()).for_each(drop);
        })?;
        Ok(Self { lines, written, waiting: 0 })
    }

    /// Hands lines over, and waits a moment until they are written; not while others wait already.
    pub fn write(&mut self, lines: Vec<u8>) -> Result<(), WriteError> {
        let before = self.collect(Duration::ZERO);
        if self.waiting >= MOST_WAITING || self.lines.send(lines).is_err() {
            return Err(WriteError::Lost);
        }
        self.waiting += 1;
        let is_first = self.waiting == 1;
        before.and(self.collect(if is_first { WITHIN } else { Duration::ZERO }))?;
        match self.waiting {
            0 => Ok(()),
            waiting => Err(WriteError::Waits { waiting }),
        }
    }

    /// Waits for what was handed over. Returns the first failure of what has ended since the last call.
    pub fn collect(&mut self, within: Duration) -> io::Result<()> {
        let mut all = Ok(());
        while self.waiting > 0 {
            let Ok(one) = self.written.recv_timeout(within) else {
                break;
            };
            self.waiting -= 1;
            all = all.and(one);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_disk_that_hangs_delays_once_and_loses_no_lines_that_it_takes_later() {
        let (let_go, held) = mpsc::channel::<()>();
        let (sender, taken) = mpsc::channel();
        let append = move |lines: &[u8]| {
            let _ = held.recv();
            sender.send(lines.to_vec()).map_err(io::Error::other)
        };
        let mut writer = Writer::start(append).unwrap();
        let begun = Instant::now();
        for number in 0..MOST_WAITING {
            let error = writer.write(vec![number as u8]).unwrap_err();
            assert!(matches!(error, WriteError::Waits { .. }), "{error}");
        }
        assert!(matches!(writer.write(vec![0]), Err(WriteError::Lost)));
        assert!(begun.elapsed() < 10 * WITHIN, "each one waited");
        drop(let_go);
        writer.collect(Duration::from_secs(20)).unwrap();
        let taken: Vec<Vec<u8>> = taken.try_iter().collect();
        assert_eq!(taken.len(), MOST_WAITING);
        assert!(taken.is_sorted());
        writer.write(vec![7]).unwrap();
    }

    #[test]
    fn a_failure_is_told_with_the_lines_or_with_the_next_ones() {
        let mut writer = Writer::start(|_| Err(io::Error::other("disk full"))).unwrap();
        for _ in 0..2 {
            assert_eq!(writer.write(vec![1]).unwrap_err().to_string(), "disk full");
        }
    }
}
