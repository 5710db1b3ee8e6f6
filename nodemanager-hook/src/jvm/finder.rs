//! Which processes are JVMs.
//!
//! A process becomes a JVM some time after its start, often when a shell executes `java`. So a
//! process that is not a JVM is examined again, each time after twice the wait.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, Instant},
};

use super::Jvm;
use crate::sensors::ProcessKey;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A look takes up to a millisecond. A job may have any number of processes that look like JVMs.
const MOST_LOOKS_AT_A_CONTAINER: usize = 4;
const MOST_LOOKS: usize = 64;
/// The JVMs of a container whose heaps are read. Each takes up to 256 KiB.
const MOST_JVMS: usize = 8;

/// The JVMs among the processes of all containers.
#[derive(Debug, Default)]
pub struct Jvms {
    processes: HashMap<u32, Examined>,
    /// The container whose turn it is to be the first.
    first: usize,
    has_waiting: bool,
}

/// A process that is or may become a JVM.
#[derive(Debug)]
struct Examined {
    key: ProcessKey,
    /// Also a JVM whose counters could not be read yet.
    jvm: Option<Jvm>,
    due: Instant,
    wait: Duration,
}

impl Jvms {
    /// Takes the current processes of each container, forgets all others, and examines processes that are due by `find`: in
    /// each call at most [`MOST_LOOKS_AT_A_CONTAINER`] of a container, beginning with those that have waited longest. Returns the errors.
    pub fn update(
        &mut self,
        containers: &[&[ProcessKey]],
        now: Instant,
        mut find: impl FnMut(ProcessKey) -> io::Result<Option<Jvm>>,
    ) -> Vec<io::Error> {
        let all = containers.iter().flat_map(|processes| processes.iter());
        let current: HashSet<ProcessKey> = all.copied().collect();
        self.processes.retain(|_, one| current.contains(&one.key));
        for key in current {
            let begins = Examined { key, jvm: None, due: now, wait: FIRST_WAIT };
            self.processes.entry(key.pid).or_insert(begins);
        }
        let mut errors = Vec::new();
        let mut looks = MOST_LOOKS;
        self.has_waiting = false;
        // Another container is the first one each time.
        self.first = (self.first + 1) % containers.len().max(1);
        let (before, from_first) = containers.split_at(self.first);
        for processes in from_first.iter().chain(before) {
            for key in self.due_of(processes, now) {
                if looks == 0 {
                    self.has_waiting = true;
                    break;
                }
                looks -= 1;
                let Some(process) = self.processes.get_mut(&key.pid) else {
                    continue;
                };
                process.due = now + process.wait;
                process.wait = (process.wait * 2).min(LONGEST_WAIT);
                match find(key) {
                    Ok(found) => process.jvm = found.filter(|jvm| jvm.key() == key),
                    Err(error) => errors.push(error),
                }
            }
        }
        errors
    }

    /// The processes of a container to examine now, those that are due longest first.
    fn due_of(&mut self, processes: &[ProcessKey], now: Instant) -> Vec<ProcessKey> {
        let mut due = Vec::new();
        let mut found = 0;
        for one in processes.iter().filter_map(|key| self.processes.get(&key.pid)) {
            // A JVM maps its library before its counters, so it may publish them later.
            match &one.jvm {
                Some(jvm) if jvm.has_counters() => found += 1,
                _ if one.due <= now => due.push((one.due, one.key)),
                _ => {}
            }
        }
        due.sort_unstable();
        self.has_waiting |= found < MOST_JVMS && due.len() > MOST_LOOKS_AT_A_CONTAINER;
        due.truncate(MOST_LOOKS_AT_A_CONTAINER.min(MOST_JVMS.saturating_sub(found)));
        due.into_iter().map(|(_, key)| key).collect()
    }

    /// Whether no process waits for its first look, but for those of containers with enough JVMs.
    pub fn has_looked_at_all(&self) -> bool {
        !self.has_waiting
    }

    pub fn get_mut(&mut self, pid: u32) -> Option<&mut Jvm> {
        self.processes.get_mut(&pid)?.jvm.as_mut()
    }
}
