//! Which processes are JVMs.
//!
//! A process becomes a JVM some time after its start, often when a shell executes `java`. So a
//! process that is not a JVM is examined again, each time after twice the wait.

use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, Instant},
};

use super::{Jvm, JvmHost};
use crate::sensors::ProcessKey;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The JVMs among the processes of all containers.
#[derive(Debug)]
pub struct Jvms {
    host: JvmHost,
    processes: HashMap<u32, Examined>,
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
    pub fn new(host: JvmHost) -> Self {
        Self { host, processes: HashMap::new() }
    }

    /// Takes the current processes, forgets all others, and examines the processes that are due.
    /// Returns the errors.
    pub fn update(
        &mut self,
        processes: impl IntoIterator<Item = ProcessKey>,
        now: Instant,
    ) -> Vec<io::Error> {
        let current: HashSet<ProcessKey> = processes.into_iter().collect();
        self.processes.retain(|_, one| current.contains(&one.key));
        let mut errors = Vec::new();
        for key in current {
            let process = self.processes.entry(key.pid).or_insert(Examined {
                key,
                jvm: None,
                due: now,
                wait: FIRST_WAIT,
            });
            // A JVM maps its library before its counters, so it may publish them later.
            let is_settled = process.jvm.as_ref().is_some_and(Jvm::has_counters);
            if is_settled || process.due > now {
                continue;
            }
            process.due = now + process.wait;
            process.wait = (process.wait * 2).min(LONGEST_WAIT);
            match Jvm::find(&self.host, key.pid) {
                Ok(found) => process.jvm = found.filter(|jvm| jvm.key() == key),
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    pub fn get_mut(&mut self, pid: u32) -> Option<&mut Jvm> {
        self.processes.get_mut(&pid)?.jvm.as_mut()
    }
}
