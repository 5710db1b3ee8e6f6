//! The node as a whole: its usage, and the measures against a shortage of memory.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use elastane_protocol::{MemoryVictim, Pressure};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{
    Agent,
    memory_victims::{Candidate, memory_victims, overcommitted},
    shortage::Shortage,
};
use crate::{
    audit::{Reason, Shortfall},
    container_id::ContainerId,
    sensors::{Device, MemoryState, NodeSensor, ProcFs, ProcessKey, pressure},
};

/// The default floor, in percent of the node's memory.
const FLOOR_PERCENT: u64 = 3;
/// Scans of a process tree for processes forked while it is killed.
const MAX_PASSES: usize = 20;

#[derive(Debug)]
pub(super) struct Node {
    sensor: NodeSensor,
    memory: Option<MemoryState>,
    floor_bytes: Option<u64>,
    pub shortage: Shortage,
    /// The victims as of the newest reading.
    named: Vec<MemoryVictim>,
    has_pressure: bool,
}

impl Node {
    pub fn new(
        sensor: NodeSensor,
        floor_bytes: Option<u64>,
        kill_after: Duration,
        proc: &ProcFs,
    ) -> Self {
        Self {
            sensor,
            memory: None,
            floor_bytes,
            shortage: Shortage::new(kill_after),
            named: Vec::new(),
            has_pressure: pressure(proc).is_some(),
        }
    }

    pub fn disks(&self) -> &[Device] {
        self.sensor.disks()
    }

    /// None if the kernel has no pressure files, which is checked once.
    pub fn pressure(&self, proc: &ProcFs) -> Option<Pressure> {
        self.has_pressure.then(|| pressure(proc)).flatten()
    }

    fn floor_bytes(&self, memory: MemoryState) -> u64 {
        self.floor_bytes.unwrap_or(memory.total_bytes / 100 * FLOOR_PERCENT)
    }

    /// How far available memory is below the floor.
    fn short_bytes(&self) -> u64 {
        self.memory.map_or(0, |memory| {
            let floor = self.floor_bytes(memory);
            floor.saturating_sub(memory.available_bytes)
        })
    }

    /// Whether the node cannot wait for the ResourceManager any longer.
    fn is_too_late(&self, now: Instant) -> bool {
        let is_far_below =
            self.memory.is_some_and(|memory| memory.available_bytes < self.floor_bytes(memory) / 2);
        self.shortage.has_lasted(now) && is_far_below
    }
}

impl Agent {
    /// Reads the node and acts on a shortage of memory.
    pub(super) fn read_node(&mut self, now: Instant) {
        let read = self.node.sensor.read(&self.proc, now);
        if let Some((mut reading, memory)) = self.troubles.check("node not read", read) {
            let grown = self.troubles.check("node not read", self.network.read());
            reading.counted.add(grown.unwrap_or_default());
            self.samples.add_node(&reading);
            self.node.memory = Some(memory);
        }
        let short_bytes = self.node.short_bytes();
        let spare = match short_bytes {
            0 => Vec::new(),
            _ => self.spare_heaps(now),
        };
        let shortage = &mut self.node.shortage;
        shortage.read(short_bytes > 0, !spare.is_empty(), now);
        self.share_shortage(short_bytes, &spare, now);
        if short_bytes == 0 {
            self.node.named.clear();
            return;
        }
        let message = format!("the node is short of {short_bytes} bytes");
        self.troubles.warn("memory of the node", message);
        self.record_named(now);
        // Without planned limits, Elastane has not overcommitted the node.
        let plan = self.plan.as_ref();
        let is_enforced = plan.is_some_and(|plan| plan.limits_anything(now));
        if is_enforced && self.node.is_too_late(now) {
            if let Some(victim) = self.memory_victims().first() {
                self.kill(victim, now);
            }
            self.node.shortage.killed(now);
        }
    }

    /// The containers that should give way now.
    pub(super) fn memory_victims(&self) -> Vec<MemoryVictim> {
        if !self.node.shortage.is_naming() {
            return Vec::new();
        }
        memory_victims(self.overcommitted(), self.node.short_bytes())
    }

    /// The containers whose requests exceed the node's physical memory.
    pub(super) fn overcommitted(&self) -> Vec<Candidate> {
        let asked = self.containers.iter().filter_map(|(id, container)| {
            Some(Candidate {
                id: id.clone(),
                started: container.root?.start_ticks,
                request_bytes: container.running.request_memory_bytes,
                resident_bytes: container.sensor.resident_bytes(),
            })
        });
        overcommitted(asked.collect(), self.identity.capacity.memory_bytes)
    }

    /// Logs and audits the victims that the reading before did not name.
    fn record_named(&mut self, now: Instant) {
        let victims = self.memory_victims();
        let former = std::mem::replace(&mut self.node.named, victims.clone());
        let was_named = |id: &str| former.iter().any(|former| former.container == id);
        for victim in victims.iter().filter(|one| !was_named(&one.container)) {
            let Ok(id) = victim.container.parse::<ContainerId>() else {
                continue;
            };
            let shortfall = self.shortfall(victim);
            log::info!("{id} is named to the ResourceManager: {shortfall}");
            self.add_to_history(&id, Reason::Named, now);
            self.actuator.audit.record(&id, Reason::Named, shortfall);
        }
    }

    pub(super) fn add_to_history(&mut self, id: &ContainerId, reason: Reason, now: Instant) {
        if let Some(container) = self.containers.get_mut(id) {
            container.history.push(now, reason);
        }
    }

    fn shortfall(&self, victim: &MemoryVictim) -> Shortfall {
        Shortfall {
            resident_bytes: victim.resident_bytes,
            short_bytes: victim.short_bytes,
            available_bytes: self.node.memory.map_or(0, |memory| memory.available_bytes),
        }
    }

    fn kill(&mut self, victim: &MemoryVictim, now: Instant) {
        let Ok(id) = victim.container.parse::<ContainerId>() else {
            return;
        };
        let mut killed: BTreeSet<ProcessKey> = BTreeSet::new();
        for _ in 0..MAX_PASSES {
            let before = killed.len();
            for key in self.tree_of(&id) {
                if !killed.contains(&key) && self.kill_process(key) {
                    killed.insert(key);
                }
            }
            if killed.len() == before {
                break;
            }
        }
        let shortfall = self.shortfall(victim);
        log::warn!("{id} is killed, {} processes: {shortfall}", killed.len());
        self.add_to_history(&id, Reason::Killed, now);
        self.actuator.audit.killed(&id, killed.len(), shortfall);
    }

    fn tree_of(&mut self, id: &ContainerId) -> BTreeSet<ProcessKey> {
        let Some(table) = self.scan() else {
            return BTreeSet::new();
        };
        let Some(container) = self.containers.get(id) else {
            return BTreeSet::new();
        };
        let mut keys = BTreeSet::new();
        if let Some(root) = container.root {
            let tree = table.tree(root, &container.sensor.processes.keys());
            keys.extend(tree.iter().map(|process| process.key()));
        }
        if let Some(pids) = container.listed_pids() {
            let pids = pids.unwrap_or_default();
            let processes = pids.iter().filter_map(|pid| table.get(*pid));
            keys.extend(processes.map(|process| process.key()));
        }
        keys.retain(|key| !self.forbidden.contains(&key.pid));
        keys
    }

    /// Returns whether the process existed.
    fn kill_process(&mut self, key: ProcessKey) -> bool {
        let process = self.proc.process(key.pid).ok().flatten();
        let is_same = process.is_some_and(|process| process.key() == key);
        let Ok(pid) = i32::try_from(key.pid) else {
            return false;
        };
        is_same && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok()
    }
}
