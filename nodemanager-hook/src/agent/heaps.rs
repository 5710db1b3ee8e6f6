//! The heaps of the JVMs in containers: which of the processes are JVMs, and what their heaps hold.

use std::{path::Path, time::Instant};

use super::{Agent, heap_wishes::HeapWishes};
use crate::{
    config,
    jvm::{Control, Heap, Host, Jvm, Jvms, PerfFileError},
    once::Once,
    sensors::{HeldHeap, ProcessKey},
};

/// The JVMs of all containers.
#[derive(Debug, Default)]
pub(super) struct NodeHeaps {
    /// Nothing where heaps are not measured.
    jvms: Option<Jvms>,
    /// Nothing where the host could not be looked at.
    host: Option<Host>,
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
        processes: impl Iterator<Item = ProcessKey>,
        now: Instant,
        troubles: &mut Once,
    ) {
        let Some(jvms) = &mut self.jvms else {
            return;
        };
        let processes = processes.map(|process| (process.pid, process.start_ticks));
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

    /// What these processes count more than once of what they hold.
    fn mapped_again_bytes(&mut self, pids: &[u32], troubles: &mut Once) -> u64 {
        let Some(jvms) = &mut self.jvms else {
            return 0;
        };
        let mut sum = 0u64;
        for pid in pids {
            match jvms.get_mut(*pid).map(Jvm::mapped_again_bytes) {
                Some(Ok(bytes)) => sum = sum.saturating_add(bytes),
                Some(Err(error)) => troubles.warn("heaps not measured", error),
                None => {}
            }
        }
        sum
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

impl Agent {
    /// Reads the heaps of all containers, for the readings that come next. Their processes are
    /// those of the readings before.
    pub(super) fn read_heaps(&mut self, now: Instant) {
        let containers = self.containers.values();
        let processes = containers.flat_map(|container| container.sensor.processes.keys());
        let (heaps, troubles) = (&mut self.heaps, &mut self.troubles);
        heaps.update(processes, now, troubles);
        for container in self.containers.values_mut() {
            let sensor = &mut container.sensor;
            sensor.heap = heaps.held(&container.pids, troubles);
            // A group is charged once for each page.
            sensor.mapped_again_bytes = match sensor.is_charged_in_group() {
                true => 0,
                false => heaps.mapped_again_bytes(&container.pids, troubles),
            };
        }
    }
}
