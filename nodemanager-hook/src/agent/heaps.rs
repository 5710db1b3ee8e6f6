//! The JVMs of containers: finds them among the processes and measures their heaps.

mod plan;
mod shortage;
mod wishes;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    time::Instant,
};

use self::wishes::HeapWishes;
pub(super) use self::{
    plan::{plan_heaps, restore_all_heaps, restore_heaps},
    shortage::{share_shortage, spare_heaps},
};
use super::container::{Containers, NodeContainer};
use crate::{
    audit::Reason,
    config,
    container_id::ContainerId,
    jvm::{
        ContainerMemory, Control, JvmHost, JvmObserver, JvmSearch, ObservedContainer, SeenJvm,
        Wish, heap_for_limit, heap_in_use,
    },
    sensors::{HeldHeap, ProcessKey},
    troubles::Troubles,
};

#[derive(Debug, Default)]
pub(super) struct NodeHeaps {
    /// None if heaps are not measured.
    jvms: Option<JvmObserver>,
    /// None if [`JvmHost::discover`] failed.
    host: Option<JvmHost>,
    /// Whether JVMs may be asked to shrink when the node is short of memory.
    pub follow: bool,
    /// Whether JVMs follow the planned memory.
    pub follow_plan: bool,
    wishes: HeapWishes,
    search: JvmSearch,
    /// Memory that JVMs had mapped more than once, also of those that cannot be looked at now.
    mapped_again: HashMap<ProcessKey, u64>,
    troubles: Troubles,
}

impl NodeHeaps {
    pub fn open(
        config: config::JvmConfig,
        can_limit: bool,
        proc_root: &Path,
        troubles: Troubles,
    ) -> Self {
        // Needed to restore the JVMs of a killed agent, whatever is configured now.
        let host = JvmHost::discover(proc_root)
            .inspect_err(|error| log::warn!("the heaps of JVMs are not measured: {error}"))
            .ok();
        Self {
            jvms: host.clone().filter(|_| config.measure).map(JvmObserver::new),
            host,
            follow: config.follow,
            follow_plan: config.follow && can_limit,
            wishes: HeapWishes::default(),
            search: JvmSearch::default(),
            mapped_again: HashMap::new(),
            troubles,
        }
    }

    /// Takes the heaps of all containers for the next readings, as they were seen last, and lets them be looked at again. A
    /// JVM that cannot be looked at has none.
    pub fn read(&mut self, containers: &mut Containers, now: Instant) {
        let Some(jvms) = &self.jvms else {
            return;
        };
        let observed = containers.iter().map(|(id, container)| ObservedContainer {
            id: id.clone(),
            processes: container.sensor.processes.iter().collect(),
        });
        for trouble in jvms.look_at(observed.collect(), now) {
            self.troubles.warn("heaps not measured", trouble);
        }
        for container in containers.values_mut() {
            let mut held = HeldHeap::default();
            let mut again_bytes = 0_u64;
            for key in container.sensor.processes.iter() {
                if let Some(jvm) = jvms.seen(key) {
                    held.add(jvm.heap.unwrap_or_default());
                    self.mapped_again.insert(key, jvm.mapped_again_bytes);
                }
                let again = self.mapped_again.get(&key).copied().unwrap_or_default();
                again_bytes = again_bytes.saturating_add(again);
            }
            container.sensor.heap = held;
            // A group is charged only once for each page.
            let is_once = container.sensor.is_charged_in_group();
            container.sensor.mapped_again_bytes = if is_once { 0 } else { again_bytes };
        }
        let all = containers.values().flat_map(|container| container.sensor.processes.iter());
        let current: HashSet<ProcessKey> = all.collect();
        self.mapped_again.retain(|key, _| current.contains(key));
    }

    /// The JVMs of a container.
    fn seen(&self, container: &NodeContainer) -> Vec<SeenJvm> {
        let keys = container.sensor.processes.iter();
        keys.filter_map(|key| self.jvms.as_ref()?.seen(key)).collect()
    }

    /// Whether all JVMs were seen that there may be.
    pub fn knows_all(&self) -> bool {
        self.jvms.as_ref().is_none_or(JvmObserver::knows_all)
    }

    /// The JVMs of a container that accept wishes, with their heaps.
    pub fn found(&self, container: &NodeContainer) -> Vec<(Control, HeldHeap)> {
        let seen = self.seen(container).into_iter();
        seen.filter_map(|jvm| jvm.control.zip(jvm.heap)).collect()
    }

    /// Asks the JVMs among these processes of a container to fit its limit.
    pub fn shrink(
        &mut self,
        id: &ContainerId,
        container: &NodeContainer,
        now: ContainerMemory,
        is_for_node: bool,
    ) {
        let reason = if is_for_node { Reason::NodeShort } else { Reason::PlanStep };
        for (control, HeldHeap { used_bytes, .. }, heap_bytes) in self.sized(container, now) {
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

    pub fn hold(&mut self, id: &ContainerId, container: &NodeContainer) {
        for key in container.sensor.processes.iter() {
            let seen = self.jvms.as_ref().and_then(|jvms| jvms.seen(key)?.control);
            // One that was asked to shrink is asked to stop, whether or not it can be looked at now.
            if let Some(control) = seen.or_else(|| self.wishes.control_of(key)) {
                self.wishes.want(id, control, Wish::Hold, Reason::FollowsUse);
            }
        }
    }

    pub fn grow(
        &mut self,
        id: &ContainerId,
        container: &NodeContainer,
        now: ContainerMemory,
        reason: Reason,
    ) {
        for (control, _, heap_bytes) in self.sized(container, now) {
            self.wishes.want(id, control, Wish::Grow { heap_bytes }, reason);
        }
    }

    /// The JVMs with their heap sizes under the limit, in proportion to the present heaps.
    fn sized(
        &self,
        container: &NodeContainer,
        now: ContainerMemory,
    ) -> Vec<(Control, HeldHeap, u64)> {
        let jvms = self.found(container);
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
    pub fn control_of(&mut self, jvm: ProcessKey, now: Instant) -> Result<Option<Control>, String> {
        let seen = || self.jvms.as_ref()?.seen(jvm)?.control;
        if let Some(control) = self.wishes.control_of(jvm).or_else(seen) {
            return Ok(Some(control));
        }
        let unknown = || "the host's processes cannot be inspected".to_owned();
        let host = self.host.as_ref().ok_or_else(unknown)?;
        let found = self.search.find(host, jvm, now).map_err(|error| error.to_string())?;
        let Some(found) = found else {
            return Ok(None);
        };
        let pid = jvm.pid;
        let no_counters = || {
            format!("pid {pid} no longer has performance counters: its flags cannot be restored")
        };
        found.control(host).ok_or_else(no_counters).map(Some)
    }
}
