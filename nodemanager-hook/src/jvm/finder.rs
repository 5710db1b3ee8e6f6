//! Which processes are JVMs.
//!
//! A process becomes a JVM some time after its start, often when a shell executes `java`. So a
//! process that is not a JVM is examined again, each time after twice the wait. A process that
//! becomes a JVM maps memory, so one with an unchanged address space is not examined.

use std::{
    collections::{HashMap, HashSet},
    time::{Duration, Instant},
};

use super::{Host, Jvm, PerfFileError};

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The JVMs among the processes of all containers.
#[derive(Debug)]
pub struct Jvms {
    host: Host,
    processes: HashMap<u32, Candidate>,
}

#[derive(Debug)]
struct Candidate {
    start_ticks: u64,
    /// Also a JVM whose counters could not be read yet.
    jvm: Option<Jvm>,
    due: Instant,
    wait: Duration,
    /// The size of the address space when the process was last found not to be a JVM.
    no_jvm_at_pages: Option<u64>,
}

impl Jvms {
    pub fn new(host: Host) -> Self {
        Self {
            host,
            processes: HashMap::new(),
        }
    }

    /// Takes the current processes as pairs of pid and start ticks, forgets all others, and
    /// examines the processes that are due. Returns the errors.
    pub fn update(
        &mut self,
        processes: impl IntoIterator<Item = (u32, u64)>,
        now: Instant,
    ) -> Vec<PerfFileError> {
        let current: HashSet<(u32, u64)> = processes.into_iter().collect();
        self.processes
            .retain(|pid, candidate| current.contains(&(*pid, candidate.start_ticks)));
        let mut errors = Vec::new();
        for (pid, start_ticks) in current {
            let candidate = self.processes.entry(pid).or_insert(Candidate {
                start_ticks,
                jvm: None,
                due: now,
                wait: FIRST_WAIT,
                no_jvm_at_pages: None,
            });
            if candidate.is_settled() || candidate.due > now {
                continue;
            }
            candidate.due = now + candidate.wait;
            candidate.wait = (candidate.wait * 2).min(LONGEST_WAIT);
            let pages = self.host.mapped_pages(pid);
            if pages.is_some() && pages == candidate.no_jvm_at_pages {
                continue;
            }
            match Jvm::find(&self.host, pid) {
                Ok(found) => {
                    candidate.jvm = found.filter(|jvm| jvm.start_ticks() == start_ticks);
                    candidate.no_jvm_at_pages = pages.filter(|_| candidate.jvm.is_none());
                }
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    pub fn get_mut(&mut self, pid: u32) -> Option<&mut Jvm> {
        self.processes.get_mut(&pid)?.jvm.as_mut()
    }

    /// All JVMs, in no particular order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Jvm> {
        let candidates = self.processes.values_mut();
        candidates.filter_map(|candidate| candidate.jvm.as_mut())
    }
}

impl Candidate {
    /// A JVM maps its library before its counters, so it may publish them later.
    fn is_settled(&self) -> bool {
        self.jvm.as_ref().is_some_and(Jvm::has_counters)
    }
}
