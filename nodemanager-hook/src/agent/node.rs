//! The node as a whole: what it uses, and what happens when its memory runs short.

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
    memory_victims::{Asked, memory_victims, overcommitted},
    shortage::Shortage,
};
use crate::{
    audit::{Reason, Want},
    container_id::ContainerId,
    sensors::{Device, MemoryState, NodeSensor, ProcFs, ProcessKey, pressure},
};

/// The floor where none is configured, as a part of the node's memory: 3 %.
const FLOOR_PERCENT: u64 = 3;
/// How often a tree is looked through for what forked while it was killed.
const MOST_PASSES: usize = 20;

/// What is known of the node.
#[derive(Debug)]
pub(super) struct Node {
    sensor: NodeSensor,
    memory: Option<MemoryState>,
    floor_bytes: Option<u64>,
    pub shortage: Shortage,
    /// Who should give way, as of the newest reading.
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

    /// The disks that are measured.
    pub fn disks(&self) -> &[Device] {
        self.sensor.disks()
    }

    /// Nothing where the kernel does not say; that is asked once.
    pub fn pressure(&self, proc: &ProcFs) -> Option<Pressure> {
        self.has_pressure.then(|| pressure(proc)).flatten()
    }

    fn floor_bytes(&self, memory: MemoryState) -> u64 {
        self.floor_bytes
            .unwrap_or(memory.total_bytes / 100 * FLOOR_PERCENT)
    }

    /// What is missing up to the floor; 0 when nothing is.
    fn short_bytes(&self) -> u64 {
        self.memory.map_or(0, |memory| {
            let floor = self.floor_bytes(memory);
            floor.saturating_sub(memory.available_bytes)
        })
    }

    /// Whether it cannot wait for the ResourceManager any longer.
    fn is_too_late(&self, now: Instant) -> bool {
        let is_far_below = self
            .memory
            .is_some_and(|memory| memory.available_bytes < self.floor_bytes(memory) / 2);
        self.shortage.has_lasted(now) && is_far_below
    }
}

impl Agent {
    /// Reads the node, and frees memory where that cannot wait any longer.
    pub(super) fn read_node(&mut self, now: Instant) {
        match self.node.sensor.read(&self.proc, now) {
            Ok((mut reading, memory)) => {
                match self.network.read() {
                    Ok(growth) => growth.add_to(&mut reading.counted),
                    Err(error) => self.troubles.warn("readings of the node", error),
                }
                self.samples.add_node(&reading);
                self.node.memory = Some(memory);
            }
            Err(error) => self.troubles.warn("readings of the node", error),
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
        // Without limits by plan it is not this system that has overcommitted the node.
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

    /// The containers that the node's physical memory does not hold by their requests.
    pub(super) fn overcommitted(&self) -> Vec<Asked> {
        let asked = self.containers.iter().filter_map(|(id, container)| {
            Some(Asked {
                id: id.clone(),
                started: container.root?.start_ticks,
                request_bytes: container.running.request_memory_bytes,
                resident_bytes: container.sensor.resident_bytes(),
            })
        });
        overcommitted(asked.collect(), self.identity.capacity.memory_bytes)
    }

    /// Records who is named now and was not at the reading before.
    fn record_named(&mut self, now: Instant) {
        let victims = self.memory_victims();
        let former = std::mem::replace(&mut self.node.named, victims.clone());
        let was_named = |id: &str| former.iter().any(|former| former.container == id);
        for victim in victims.iter().filter(|one| !was_named(&one.container)) {
            let Ok(id) = victim.container.parse::<ContainerId>() else {
                continue;
            };
            let want = self.want(victim);
            log::info!(
                "{id} is named to the ResourceManager: the node has {} bytes available, {} too \
                 few; the container holds {} bytes and came when the requests of those before it \
                 had filled the node",
                want.available_bytes,
                want.short_bytes,
                want.resident_bytes,
            );
            self.say_why(&id, Reason::Named, now);
            if let Err(error) = self.actuator.audit.named(&id, &want) {
                self.troubles.warn("audit", format!("audit file: {error}"));
            }
        }
    }

    /// To whoever asks for the status.
    fn say_why(&mut self, id: &ContainerId, reason: Reason, now: Instant) {
        if let Some(container) = self.containers.get_mut(id) {
            container.history.push(now, reason);
        }
    }

    fn want(&self, victim: &MemoryVictim) -> Want {
        Want {
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
        for _ in 0..MOST_PASSES {
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
        let want = self.want(victim);
        log::warn!(
            "{id} is killed, {} processes: the node has {} bytes available, {} too few; the \
             container holds {} bytes and came when the requests of those before it had filled the \
             node",
            killed.len(),
            want.available_bytes,
            want.short_bytes,
            want.resident_bytes,
        );
        self.say_why(&id, Reason::Killed, now);
        if let Err(error) = self.actuator.audit.killed(&id, killed.len(), &want) {
            self.troubles.warn("audit", format!("audit file: {error}"));
        }
    }

    /// The processes of a container now.
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

    /// Says whether it was there.
    fn kill_process(&mut self, key: ProcessKey) -> bool {
        let is_same = self
            .proc
            .process(key.pid)
            .is_ok_and(|process| process.is_some_and(|process| process.key() == key));
        let Ok(pid) = i32::try_from(key.pid) else {
            return false;
        };
        is_same && kill(Pid::from_raw(pid), Signal::SIGKILL).is_ok()
    }
}
