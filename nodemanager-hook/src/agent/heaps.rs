//! The JVMs of containers: finds them among the processes and measures their heaps.

use std::{fmt::Display, path::Path, time::Instant};

use super::{container::Containers, heap_wishes::HeapWishes};
use crate::{
    audit::Reason,
    config,
    container_id::ContainerId,
    jvm::{ContainerMemory, Control, Jvm, JvmHost, Jvms, Wish, heap_for_limit, heap_in_use},
    once::Once,
    sensors::{HeldHeap, ProcessKey},
};

#[derive(Debug, Default)]
pub(super) struct NodeHeaps {
    /// None if heaps are not measured.
    jvms: Option<Jvms>,
    /// None if [`JvmHost::discover`] failed.
    host: Option<JvmHost>,
    /// Whether JVMs may be asked to shrink when the node is short of memory.
    pub follow: bool,
    /// Whether JVMs follow the planned memory.
    pub follow_plan: bool,
    pub wishes: HeapWishes,
    troubles: Once,
}

impl NodeHeaps {
    pub fn open(
        config: config::JvmConfig,
        can_limit: bool,
        proc_root: &Path,
        troubles: Once,
    ) -> Self {
        // Needed to restore the JVMs of a killed agent, whatever is configured now.
        let host = JvmHost::discover(proc_root)
            .inspect_err(|error| log::warn!("the heaps of JVMs are not measured: {error}"))
            .ok();
        Self {
            jvms: host.clone().filter(|_| config.measure).map(Jvms::new),
            host,
            follow: config.follow,
            follow_plan: config.follow && can_limit,
            wishes: HeapWishes::default(),
            troubles,
        }
    }

    /// Reads the heaps of all containers for the next readings, by the processes of the last ones.
    pub fn read(&mut self, containers: &mut Containers, now: Instant) {
        let Some(jvms) = &mut self.jvms else {
            return;
        };
        let all = containers.values();
        let processes = all.flat_map(|container| container.sensor.processes.keys());
        for error in jvms.update(processes, now) {
            self.troubles.warn("heaps not measured", error);
        }
        for container in containers.values_mut() {
            let sensor = &mut container.sensor;
            sensor.heap = self.held(&container.pids);
            // A group is charged only once for each page.
            sensor.mapped_again_bytes = match sensor.is_charged_in_group() {
                true => 0,
                false => self.mapped_again_bytes(&container.pids),
            };
        }
    }

    /// The sum of these processes' heaps.
    fn held(&mut self, pids: &[u32]) -> HeldHeap {
        let mut held = HeldHeap::default();
        let heaps = self.read_each(pids, Jvm::heap);
        heaps.into_iter().flatten().for_each(|heap| held.add(heap));
        held
    }

    /// Heap memory that these processes' resident sizes count more than once.
    fn mapped_again_bytes(&mut self, pids: &[u32]) -> u64 {
        self.read_each(pids, Jvm::mapped_again_bytes).into_iter().fold(0, u64::saturating_add)
    }

    fn read_each<T, E: Display>(
        &mut self,
        pids: &[u32],
        read: impl Fn(&mut Jvm) -> Result<T, E>,
    ) -> Vec<T> {
        let Some(jvms) = &mut self.jvms else {
            return Vec::new();
        };
        let mut values = Vec::new();
        for pid in pids {
            let value = jvms.get_mut(*pid).map(&read);
            values.extend(value.and_then(|value| self.troubles.check("heaps not measured", value)));
        }
        values
    }

    /// The JVMs among these processes that accept wishes, with their heaps.
    pub fn found(&mut self, pids: &[u32]) -> Vec<(Control, HeldHeap)> {
        let Some(host) = self.host.clone() else {
            return Vec::new();
        };
        let found = self.read_each(pids, |jvm| {
            let control = jvm.control(&host);
            jvm.heap().map(|heap| control.zip(heap))
        });
        found.into_iter().flatten().collect()
    }

    /// Asks the JVMs among these processes of a container to fit its limit.
    pub fn shrink(
        &mut self,
        id: &ContainerId,
        pids: &[u32],
        now: ContainerMemory,
        is_for_node: bool,
    ) {
        let reason = if is_for_node { Reason::NodeShort } else { Reason::PlanStep };
        for (control, HeldHeap { used_bytes, .. }, heap_bytes) in self.sized(pids, now) {
            if control.kind.flags().is_empty() {
                let message = format!("{id}: a JVM's collector does not return memory at run time");
                self.troubles.warn("collectors not supported", message);
                continue;
            }
            // The node's shortage says nothing about the live objects of the heap. Below their size
            // a JVM would collect without end.
            let min_bytes = if is_for_node { heap_in_use(used_bytes) } else { 0 };
            let wish = Wish::Shrink { heap_bytes: heap_bytes.max(min_bytes), used_bytes };
            self.wishes.want(id, control, wish, reason);
        }
    }

    pub fn hold(&mut self, id: &ContainerId, pids: &[u32]) {
        for (control, _) in self.found(pids) {
            self.wishes.want(id, control, Wish::Hold, Reason::FollowsUse);
        }
    }

    pub fn grow(&mut self, id: &ContainerId, pids: &[u32], now: ContainerMemory, reason: Reason) {
        for (control, _, heap_bytes) in self.sized(pids, now) {
            self.wishes.want(id, control, Wish::Grow { heap_bytes }, reason);
        }
    }

    /// The JVMs with their heap sizes under the limit, in proportion to the present heaps.
    fn sized(&mut self, pids: &[u32], now: ContainerMemory) -> Vec<(Control, HeldHeap, u64)> {
        let jvms = self.found(pids);
        let committed = jvms.iter().map(|(_, heap)| heap.committed_bytes);
        let committed_bytes = committed.fold(0, u64::saturating_add);
        let limit_bytes = now.limit_bytes.unwrap_or(u64::MAX);
        let (resident_bytes, margin_bytes) = (now.resident_bytes, now.margin_bytes);
        let all_bytes = heap_for_limit(limit_bytes, resident_bytes, committed_bytes, margin_bytes);
        let sized = jvms.into_iter().map(|(control, heap)| {
            let part = u128::from(heap.committed_bytes);
            let bytes = u128::from(all_bytes) * part / u128::from(committed_bytes.max(1));
            (control, heap, u64::try_from(bytes).unwrap_or(all_bytes))
        });
        sized.collect()
    }

    /// The control of a JVM, in a container or not. None if the JVM has ended.
    pub fn control_of(&self, jvm: ProcessKey) -> Result<Option<Control>, String> {
        if let Some(control) = self.wishes.control_of(jvm) {
            return Ok(Some(control));
        }
        let unknown = || "the host's processes cannot be inspected".to_owned();
        let host = self.host.as_ref().ok_or_else(unknown)?;
        let found = Jvm::find(host, jvm.pid).map_err(|error| error.to_string())?;
        let Some(found) = found.filter(|found| found.key() == jvm) else {
            return Ok(None);
        };
        let pid = jvm.pid;
        let no_counters = || {
            format!("pid {pid} no longer has performance counters: its flags cannot be restored")
        };
        found.control(host).ok_or_else(no_counters).map(Some)
    }
}
