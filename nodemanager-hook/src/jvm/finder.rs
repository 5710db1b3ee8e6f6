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
        let (before, from_first) = containers.split_at(self.first.min(containers.len()));
        // The first one that has to wait is the first one of the next call.
        let mut served = None;
        for (number, processes) in from_first.iter().chain(before).enumerate() {
            for key in self.due_of(processes, now) {
                if looks == 0 {
                    self.has_waiting = true;
                    served.get_or_insert(number);
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
        self.first = (self.first + served.unwrap_or(0)) % containers.len().max(1);
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

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::*;

    fn keys(count: usize) -> Vec<ProcessKey> {
        (1..).take(count).map(|pid| ProcessKey { pid, start_ticks: 1 }).collect()
    }

    #[test]
    fn one_call_looks_at_a_bounded_number_of_processes_and_the_next_at_the_others() {
        let all = keys(MOST_LOOKS + 5);
        let containers: Vec<&[ProcessKey]> = all.chunks(1).collect();
        let (mut jvms, start) = (Jvms::default(), Instant::now());
        let mut looks = |now| {
            let mut looked_at = HashSet::new();
            jvms.update(&containers, now, |key| {
                looked_at.insert(key);
                Ok(None)
            });
            (looked_at, jvms.has_looked_at_all())
        };
        let (first, has_all) = looks(start);
        assert_eq!((first.len(), has_all), (MOST_LOOKS, false));
        let (second, has_all) = looks(start + FIRST_WAIT / 2);
        assert_eq!((second.len(), has_all), (5, true));
        assert!(first.is_disjoint(&second));
    }

    #[test]
    fn containers_whose_processes_are_always_due_take_turns() {
        const CONTAINERS: usize = 40;
        let all = keys(CONTAINERS * 100);
        let containers: Vec<&[ProcessKey]> = all.chunks(100).collect();
        let (mut jvms, now) = (Jvms::default(), Instant::now());
        let mut looks = [0; CONTAINERS];
        // Two turns of 16 containers leave 8, which are the first ones of the next call.
        for _ in 0..5 {
            jvms.update(&containers, now, |key| {
                looks[(key.pid as usize - 1) / 100] += 1;
                Ok(None)
            });
        }
        assert_eq!(looks, [2 * MOST_LOOKS_AT_A_CONTAINER; CONTAINERS]);
    }

    #[test]
    fn a_container_with_many_jvms_has_some_of_them_read_and_delays_nobody() {
        let proc = tempfile::tempdir().unwrap();
        let all = keys(MOST_JVMS + 3);
        for ProcessKey { pid, .. } in &all {
            let files = proc.path().join(pid.to_string());
            fs::create_dir(&files).unwrap();
            let stat = format!("{pid} (java) S 1 1 1 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 1 0");
            fs::write(files.join("stat"), stat).unwrap();
        }
        let recorded = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/jvm/hsperfdata-serial");
        let (mut jvms, mut now) = (Jvms::default(), Instant::now());
        for _ in 0..MOST_JVMS {
            jvms.update(&[&all], now, |key| {
                Ok(Some(Jvm::with_counters(proc.path(), key.pid, Path::new(recorded))))
            });
            now += LONGEST_WAIT;
        }
        let read = all.iter().filter(|key| jvms.get_mut(key.pid).is_some());
        assert_eq!(read.count(), MOST_JVMS);
        assert!(jvms.has_looked_at_all(), "the others wait for no look");
    }
}
