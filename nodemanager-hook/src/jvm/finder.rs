//! Which of the processes are JVMs, asked seldom.
//!
//! A process becomes a JVM some time after its start, often by the `exec` of a shell. So each is
//! looked at again, after twice the time whenever it was none. What a look costs is spent only when
//! the process has mapped something meanwhile, as one does that becomes a JVM.

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
    processes: HashMap<u32, Known>,
}

#[derive(Debug)]
struct Known {
    start_ticks: u64,
    /// Also a JVM whose counters could not be read yet.
    jvm: Option<Jvm>,
    look_at: Instant,
    wait: Duration,
    /// The size of its address space when it was none.
    none_at_pages: Option<u64>,
}

impl Jvms {
    /// Knows no process yet.
    pub fn new(host: Host) -> Self {
        Self {
            host,
            processes: HashMap::new(),
        }
    }

    /// Where the processes are looked at.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Takes the processes that are there now, as pid and start in ticks since the boot, forgets
    /// the others, and looks at those whose turn it is. Gives what was wrong with any.
    pub fn update(
        &mut self,
        processes: impl IntoIterator<Item = (u32, u64)>,
        now: Instant,
    ) -> Vec<PerfFileError> {
        let current: HashSet<(u32, u64)> = processes.into_iter().collect();
        self.processes
            .retain(|pid, known| current.contains(&(*pid, known.start_ticks)));
        let mut errors = Vec::new();
        for (pid, start_ticks) in current {
            let known = self.processes.entry(pid).or_insert(Known {
                start_ticks,
                jvm: None,
                look_at: now,
                wait: FIRST_WAIT,
                none_at_pages: None,
            });
            if known.is_settled() || known.look_at > now {
                continue;
            }
            known.look_at = now + known.wait;
            known.wait = (known.wait * 2).min(LONGEST_WAIT);
            let pages = self.host.mapped_pages(pid);
            if pages.is_some() && pages == known.none_at_pages {
                continue;
            }
            match Jvm::find(&self.host, pid) {
                Ok(found) => {
                    known.jvm = found.filter(|jvm| jvm.start_ticks() == start_ticks);
                    known.none_at_pages = pages.filter(|_| known.jvm.is_none());
                }
                Err(error) => errors.push(error),
            }
        }
        errors
    }

    /// The JVM with a pid.
    pub fn get_mut(&mut self, pid: u32) -> Option<&mut Jvm> {
        self.processes.get_mut(&pid)?.jvm.as_mut()
    }

    /// All JVMs, in no order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Jvm> {
        let known = self.processes.values_mut();
        known.filter_map(|known| known.jvm.as_mut())
    }
}

impl Known {
    /// A JVM without counters may have them later: it maps its library first.
    fn is_settled(&self) -> bool {
        self.jvm.as_ref().is_some_and(Jvm::has_counters)
    }
}
