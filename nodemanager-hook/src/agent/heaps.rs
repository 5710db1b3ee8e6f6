//! The JVMs of containers: finds them among the processes and measures their heaps.

use std::{fmt::Display, path::Path, time::Instant};

use super::{Agent, heap_wishes::HeapWishes};
use crate::{
    config,
    jvm::{Control, Jvm, JvmHost, Jvms, PerfFileError},
    once::Once,
    sensors::{HeldHeap, ProcessKey},
};

/// The JVMs of all containers.
#[derive(Debug, Default)]
pub(super) struct NodeHeaps {
    /// None if heaps are not measured.
    jvms: Option<Jvms>,
    /// None if [`JvmHost::discover`] failed.
    host: Option<JvmHost>,
    /// Whether the JVMs follow the plan.
    pub follow: bool,
    pub wishes: HeapWishes,
}

/// A JVM that accepts wishes.
#[derive(Debug)]
pub(super) struct FoundJvm {
    pub control: Control,
    pub heap: HeldHeap,
}

/// Why a JVM accepts no wishes.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnknownJvm {
    #[error("the host's processes cannot be inspected")]
    Host,
    #[error(transparent)]
    Counters(#[from] PerfFileError),
    #[error("pid {pid} no longer has performance counters: its flags cannot be restored")]
    NoCounters { pid: u32 },
}

impl NodeHeaps {
    pub fn open(config: config::Jvm, proc_root: &Path) -> Self {
        let discover = || {
            let host = JvmHost::discover(proc_root);
            host.inspect_err(|error| log::warn!("the heaps of JVMs are not measured: {error}"))
        };
        // Needed to restore the JVMs of a killed agent, whatever is configured now.
        let host = discover().ok();
        Self {
            jvms: host.clone().filter(|_| config.measure).map(Jvms::new),
            host,
            follow: config.follow,
            ..Self::default()
        }
    }

    /// Takes the processes of all containers and finds the JVMs among the new ones.
    fn update(
        &mut self,
        processes: impl Iterator<Item = ProcessKey>,
        now: Instant,
        troubles: &mut Once,
    ) {
        let Some(jvms) = &mut self.jvms else {
            return;
        };
        for error in jvms.update(processes, now) {
            troubles.warn("heaps not measured", error);
        }
    }

    /// The sum of these processes' heaps.
    fn held(&mut self, pids: &[u32], troubles: &mut Once) -> HeldHeap {
        let mut held = HeldHeap::default();
        let heaps = self.read_each(pids, troubles, Jvm::heap);
        heaps.into_iter().flatten().for_each(|heap| held.add(heap));
        held
    }

    /// Heap memory that these processes' resident sizes count more than once.
    fn mapped_again_bytes(&mut self, pids: &[u32], troubles: &mut Once) -> u64 {
        let bytes = self.read_each(pids, troubles, Jvm::mapped_again_bytes);
        bytes.into_iter().fold(0, u64::saturating_add)
    }

    fn read_each<T, E: Display>(
        &mut self,
        pids: &[u32],
        troubles: &mut Once,
        read: impl Fn(&mut Jvm) -> Result<T, E>,
    ) -> Vec<T> {
        let Some(jvms) = &mut self.jvms else {
            return Vec::new();
        };
        let mut values = Vec::new();
        for pid in pids {
            match jvms.get_mut(*pid).map(&read) {
                Some(Ok(value)) => values.push(value),
                Some(Err(error)) => troubles.warn("heaps not measured", error),
                None => {}
            }
        }
        values
    }

    /// The JVMs among these processes that accept wishes.
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

    /// The control of a JVM, in a container or not. None if the JVM has ended.
    pub fn control_of(&self, jvm: ProcessKey) -> Result<Option<Control>, UnknownJvm> {
        if let Some(control) = self.wishes.control_of(jvm) {
            return Ok(Some(control));
        }
        let host = self.host.as_ref().ok_or(UnknownJvm::Host)?;
        let found = Jvm::find(host, jvm.pid)?;
        let same = found.filter(|found| found.key() == jvm);
        let control = |found: Jvm| {
            let control = found.control(host);
            control.ok_or(UnknownJvm::NoCounters { pid: jvm.pid })
        };
        same.map(control).transpose()
    }
}

impl Agent {
    /// Reads the heaps of all containers for the next readings, by the processes of the last ones.
    pub(super) fn read_heaps(&mut self, now: Instant) {
        let containers = self.containers.values();
        let processes = containers.flat_map(|container| container.sensor.processes.keys());
        let (heaps, troubles) = (&mut self.heaps, &mut self.troubles);
        heaps.update(processes, now, troubles);
        for container in self.containers.values_mut() {
            let sensor = &mut container.sensor;
            sensor.heap = heaps.held(&container.pids, troubles);
            // A group is charged only once for each page.
            sensor.mapped_again_bytes = match sensor.is_charged_in_group() {
                true => 0,
                false => heaps.mapped_again_bytes(&container.pids, troubles),
            };
        }
    }
}
