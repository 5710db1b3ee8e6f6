//! The heaps of the JVMs in containers: which of the processes are JVMs, and what their heaps hold.

use std::{collections::BTreeMap, path::Path, time::Instant};

use super::{Agent, heap_wishes::HeapWishes};
use crate::{
    config,
    jvm::{Control, Heap, Host, Jvm, Jvms, PerfFileError},
    once::Once,
    sensors::{HeldHeap, ProcFs, ProcessKey},
};

/// The JVMs of all containers.
#[derive(Debug, Default)]
pub(super) struct NodeHeaps {
    /// Nothing where heaps are not measured.
    jvms: Option<Jvms>,
    /// Nothing where the host could not be looked at.
    host: Option<Host>,
    starts: Starts,
    /// Whether they follow the plan.
    pub follow: bool,
    pub wishes: HeapWishes,
}

/// A JVM that can be asked for something.
#[derive(Debug)]
pub(super) struct FoundJvm {
    pub control: Control,
    pub heap: Heap,
}

/// Why a JVM cannot be asked for anything.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnknownJvm {
    #[error("the host's processes cannot be looked at")]
    Host,
    #[error(transparent)]
    Counters(#[from] PerfFileError),
    #[error("pid {pid} has no counters any more: its flags cannot be put back")]
    NoCounters { pid: u32 },
}

/// When processes began, by pid; asked again only when the pid has another inode in `/proc`, which
/// costs less than to read the start of each process with each reading.
#[derive(Debug, Default)]
struct Starts(BTreeMap<u32, (u64, u64)>);

impl NodeHeaps {
    /// What keeps heaps from being measured is said once.
    pub fn open(config: config::Jvm, proc_root: &Path) -> Self {
        let discover = || {
            let host = Host::discover(proc_root);
            host.inspect_err(|error| log::warn!("the heaps of JVMs are not measured: {error}"))
        };
        // What a killed agent left is restored, whatever is configured now.
        let host = discover().ok();
        Self {
            jvms: host.clone().filter(|_| config.measure).map(Jvms::new),
            host,
            follow: config.follow,
            ..Self::default()
        }
    }

    /// Takes the processes of all containers, and looks which of the new ones are JVMs.
    fn update(
        &mut self,
        pids: impl Iterator<Item = u32>,
        proc: &ProcFs,
        now: Instant,
        troubles: &mut Once,
    ) {
        let Some(jvms) = &mut self.jvms else {
            return;
        };
        let processes = self.starts.update(pids, proc, troubles);
        for error in jvms.update(processes, now) {
            troubles.warn("heaps not measured", error);
        }
    }

    /// What the heaps of these processes hold together.
    fn held(&mut self, pids: &[u32], troubles: &mut Once) -> HeldHeap {
        let mut held = HeldHeap::default();
        let Some(jvms) = &mut self.jvms else {
            return held;
        };
        for pid in pids {
            let heap = jvms.get_mut(*pid).and_then(|jvm| jvm.heap().transpose());
            match heap {
                Some(Ok(heap)) => held.add(HeldHeap {
                    used_bytes: heap.used_bytes,
                    committed_bytes: heap.committed_bytes,
                }),
                Some(Err(error)) => troubles.warn("heaps not measured", error),
                None => {}
            }
        }
        held
    }

    /// Those of these processes that are JVMs and can be asked for something.
    pub fn found(&mut self, pids: &[u32], troubles: &mut Once) -> Vec<FoundJvm> {
        let (Some(jvms), Some(host)) = (&mut self.jvms, &self.host) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for pid in pids {
            let Some(jvm) = jvms.get_mut(*pid) else {
                continue;
            };
            match (jvm.control(host), jvm.heap()) {
                (Some(control), Ok(Some(heap))) => found.push(FoundJvm { control, heap }),
                (_, Err(error)) => troubles.warn("heaps not measured", error),
                _ => {}
            }
        }
        found
    }

    /// What asks a JVM, also one that is in no container; nothing when it has ended.
    ///
    /// # Errors
    /// A JVM that is there but cannot be looked at.
    pub fn control_of(&self, jvm: ProcessKey) -> Result<Option<Control>, UnknownJvm> {
        if let Some(control) = self.wishes.control_of(jvm) {
            return Ok(Some(control));
        }
        let host = self.host.as_ref().ok_or(UnknownJvm::Host)?;
        let found = Jvm::find(host, jvm.pid)?;
        let same = found.filter(|found| found.start_ticks() == jvm.start_ticks);
        let control = |found: Jvm| {
            let control = found.control(host);
            control.ok_or(UnknownJvm::NoCounters { pid: jvm.pid })
        };
        same.map(control).transpose()
    }
}

impl Starts {
    /// These processes, each with its start in ticks since the boot; those that are gone are left
    /// out.
    fn update(
        &mut self,
        pids: impl Iterator<Item = u32>,
        proc: &ProcFs,
        troubles: &mut Once,
    ) -> Vec<(u32, u64)> {
        let known = std::mem::take(&mut self.0);
        for pid in pids {
            let Some(inode) = proc.inode(pid) else {
                continue;
            };
            let start = match known.get(&pid) {
                Some((same, start)) if *same == inode => Some(*start),
                _ => proc
                    .process(pid)
                    .inspect_err(|error| troubles.warn("processes not readable", error))
                    .ok()
                    .flatten()
                    .map(|process| process.start_ticks),
            };
            if let Some(start_ticks) = start {
                self.0.insert(pid, (inode, start_ticks));
            }
        }
        let starts = self.0.iter();
        starts.map(|(pid, (_, start))| (*pid, *start)).collect()
    }
}

impl Agent {
    /// Reads the heaps of all containers, for the readings that come next. Their processes are
    /// those of the readings before.
    pub(super) fn read_heaps(&mut self, now: Instant) {
        let containers = self.containers.values();
        let pids = containers.flat_map(|container| container.pids.iter().copied());
        let (heaps, troubles) = (&mut self.heaps, &mut self.troubles);
        heaps.update(pids, &self.proc, now, troubles);
        for container in self.containers.values_mut() {
            container.sensor.heap = heaps.held(&container.pids, troubles);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_process_is_known_until_it_ends() {
        let proc = ProcFs::new(Path::new("/proc"));
        let (mut starts, mut troubles) = (Starts::default(), Once::default());
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let pid = child.id();
        let start = proc.process(pid).unwrap().unwrap().start_ticks;
        let mut update = |pids: &[u32]| starts.update(pids.iter().copied(), &proc, &mut troubles);
        assert_eq!(update(&[pid]), [(pid, start)]);
        assert_eq!(update(&[pid]), [(pid, start)]);
        assert_eq!(update(&[]), []);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(update(&[pid]), []);
        assert_eq!(troubles.counts().count(), 0);
    }
}
