//! Finds the JVM of a process that is in no container any more, such as one that a killed agent had changed.

use std::{
    collections::BTreeMap,
    io,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::{Jvm, JvmHost};
use crate::sensors::ProcessKey;

/// A look takes less than a millisecond.
const WITHIN: Duration = Duration::from_millis(200);

/// Looks that may be held up at a time: each keeps a thread.
const MOST_HELD_UP: usize = 2;
/// After a look that failed.
const PAUSE: Duration = Duration::from_secs(10);

/// The job may hold up whoever looks, so each look has a thread of its own. No process is looked at by two of them.
#[derive(Debug, Default)]
pub struct JvmSearch {
    held_up: BTreeMap<ProcessKey, Receiver<Found>>,
    paused_until: BTreeMap<ProcessKey, Instant>,
}

type Found = io::Result<Option<Jvm>>;

impl JvmSearch {
    /// `None` if the process has ended or is no JVM. While an examination hangs, and for 10 s after one failed, returns
    /// an error at once.
    pub fn find(&mut self, host: &JvmHost, jvm: ProcessKey, now: Instant) -> Found {
        self.paused_until.retain(|_, until| *until > now);
        let (found, within) = match self.held_up.remove(&jvm) {
            Some(found) => (found, Duration::ZERO),
            None if self.paused_until.contains_key(&jvm) => {
                let failed = format!("the last examination of pid {} failed", jvm.pid);
                return Err(io::Error::other(failed));
            }
            None if self.held_up.len() >= MOST_HELD_UP => {
                let hangs = format!("pid {} is not examined: examining other JVMs hangs", jvm.pid);
                return Err(io::Error::other(hangs));
            }
            None => (look(host.clone(), jvm)?, WITHIN),
        };
        match found.recv_timeout(within) {
            Ok(Err(error)) => {
                self.paused_until.insert(jvm, now + PAUSE);
                Err(error)
            }
            Ok(Ok(found)) => Ok(found.filter(|found| found.key() == jvm)),
            Err(RecvTimeoutError::Timeout) => {
                self.held_up.insert(jvm, found);
                Err(io::Error::other(format!("examining pid {} hangs", jvm.pid)))
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(io::Error::other(format!("examining pid {} failed", jvm.pid)))
            }
        }
    }

    /// Whether a look has not ended.
    pub fn is_held_up(&self) -> bool {
        !self.held_up.is_empty()
    }
}

fn look(host: JvmHost, jvm: ProcessKey) -> io::Result<Receiver<Found>> {
    let (sender, found) = mpsc::channel();
    let thread = thread::Builder::new().name("jvm search".into());
    thread.spawn(move || drop(sender.send(Jvm::find(&host, jvm.pid))))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use nix::{sys::stat::Mode, unistd::mkfifo};

    use super::*;

    #[test]
    fn a_process_that_holds_up_the_look_is_found_once_it_lets_go() {
        let directory = tempfile::tempdir().unwrap();
        let process = directory.path().join("7");
        fs::create_dir(&process).unwrap();
        // Whoever opens it waits for a writer.
        mkfifo(&process.join("stat"), Mode::S_IRWXU).unwrap();
        let host = JvmHost::new(directory.path(), "");
        let mut search = JvmSearch::default();
        let jvm = ProcessKey { pid: 7, start_ticks: 1 };
        let now = Instant::now();
        for _ in 0..2 {
            let error = search.find(&host, jvm, now).unwrap_err();
            assert_eq!(error.to_string(), "examining pid 7 hangs");
        }
        assert!(search.is_held_up());
        // As if it had ended.
        fs::write(process.join("stat"), "").unwrap();
        let ended = loop {
            match search.find(&host, jvm, now) {
                Err(error) if error.to_string().contains("hangs") => thread::yield_now(),
                found => break found,
            }
        };
        assert!(ended.unwrap().is_none());
    }

    #[test]
    fn a_process_that_is_no_jvm_is_none() {
        let host = JvmHost::new(Path::new("/proc"), "");
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let key = ProcessKey { pid: child.id(), start_ticks: 0 };
        assert!(JvmSearch::default().find(&host, key, Instant::now()).unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
