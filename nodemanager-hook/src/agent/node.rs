//! The node as a whole: its usage, and the measures against a shortage of memory.

mod memory_victims;
mod shortage;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use elastane_protocol::{Limits, MemoryVictim};

use self::{
    memory_victims::{VictimCandidate, memory_victims, overcommitted},
    shortage::Shortage,
};
use super::{
    container::{Containers, named},
    heaps::{NodeHeaps, share_shortage, spare_heaps},
    host::Host,
    network::NodeNetwork,
};
use crate::{
    audit::{Reason, Shortfall},
    config,
    container_id::ContainerId,
    killing::Killing,
    sensors::{MemoryState, NodeSensor, ProcessKey},
};

/// How long killed processes have to end before they count as living: one that waits for a disk ends late.
const KILLED_WITHIN: Duration = Duration::from_secs(2);
/// The default floor, in percent of the node's memory.
const FLOOR_PERCENT: u64 = 3;

#[derive(Debug)]
pub(super) struct WatchedNode {
    sensor: NodeSensor,
    /// The node's physical memory, as configured or detected.
    memory_bytes: u64,
    memory: Option<MemoryState>,
    floor_bytes: Option<u64>,
    shortage: Shortage,
    /// The victims as of the newest reading.
    named: Vec<MemoryVictim>,
    kill: Option<Kill>,
}

/// A container that was killed.
#[derive(Debug)]
struct Kill {
    id: ContainerId,
    /// A container that starts anew may get the same id.
    root: Option<ProcessKey>,
    processes: Killing,
    shortfall: Shortfall,
    begun: Instant,
}

impl WatchedNode {
    pub fn new(sensor: NodeSensor, memory_bytes: u64, config: config::Memory) -> Self {
        Self {
            sensor,
            memory_bytes,
            memory: None,
            floor_bytes: config.node_floor_bytes,
            shortage: Shortage::new(config.kill_after()),
            named: Vec::new(),
            kill: None,
        }
    }

    fn floor_bytes(&self, memory: MemoryState) -> u64 {
        self.floor_bytes.unwrap_or(memory.total_bytes / 100 * FLOOR_PERCENT)
    }

    /// How far available memory is below the floor.
    fn short_bytes(&self) -> u64 {
        self.memory
            .map_or(0, |memory| self.floor_bytes(memory).saturating_sub(memory.available_bytes))
    }

    /// Whether the node cannot wait for the ResourceManager any longer.
    fn is_too_late(&self, now: Instant) -> bool {
        let is_far_below =
            self.memory.is_some_and(|memory| memory.available_bytes < self.floor_bytes(memory) / 2);
        self.shortage.has_lasted(now) && is_far_below
    }

    fn shortfall(&self, victim: &MemoryVictim) -> Shortfall {
        Shortfall {
            resident_bytes: victim.resident_bytes,
            short_bytes: victim.short_bytes,
            available_bytes: self.memory.map_or(0, |memory| memory.available_bytes),
        }
    }

    /// Reads the counters of the node.
    pub fn read(&mut self, host: &mut Host, network: &mut NodeNetwork, now: Instant) {
        let troubles = &host.actuator.troubles;
        let read = self.sensor.read(&host.reader.proc, now);
        if let Some((mut reading, memory)) = troubles.check("node not read", read) {
            let grown = troubles.check("node not read", network.read());
            reading.counted.add(grown.unwrap_or_default());
            host.reader.samples.add_node(&reading);
            self.memory = Some(memory);
        }
    }

    /// Reads the node's memory between two readings of its counters.
    pub fn read_between(&mut self, host: &mut Host) {
        let read = self.sensor.read_memory(&host.reader.proc);
        if let Some((reading, memory)) = host.actuator.troubles.check("node not read", read) {
            if let Some(reading) = reading {
                host.reader.samples.add_node(&reading);
            }
            self.memory = Some(memory);
        }
    }

    /// Acts on a shortage of memory.
    pub fn step(&mut self, host: &mut Host, heaps: &NodeHeaps, now: Instant) {
        self.follow_kill(host, now);
        let troubles = &host.actuator.troubles;
        let short_bytes = self.short_bytes();
        let mut may_be_asked = match short_bytes > 0 || self.shortage.asks_jvms() {
            true => self.may_be_asked(host, heaps, now),
            false => BTreeSet::new(),
        };
        let spare = match short_bytes {
            0 => BTreeMap::new(),
            _ => spare_heaps(heaps, &host.containers, &may_be_asked),
        };
        // JVMs that were not looked at yet may give memory back too.
        let is_unknown = !may_be_asked.is_empty() && !heaps.knows_all();
        let may_give_back = !spare.is_empty() || is_unknown;
        self.shortage.read(short_bytes > 0, may_give_back, now);
        if !self.shortage.asks_jvms() {
            may_be_asked.clear();
        }
        let margin = host.actuator.margin;
        share_shortage(&mut host.containers, &may_be_asked, short_bytes, &spare, margin);
        if short_bytes == 0 {
            self.named.clear();
            return;
        }
        let message = format!("the node's available memory is {short_bytes} bytes below its floor");
        troubles.warn("memory of the node", message);
        self.record_named(host);
        // Without planned limits, Elastane has not overcommitted the node.
        if self.kill.is_none() && host.plan.limits_anything(now) && self.is_too_late(now) {
            self.kill_first_victim(host, now);
            self.shortage.killed(now);
        }
    }

    /// Records a kill whose processes have not ended yet, without waiting for them.
    pub fn end(&mut self, host: &mut Host, now: Instant) {
        self.follow_kill(host, now + KILLED_WITHIN);
    }

    /// The containers that should give way now.
    pub fn memory_victims(&self, containers: &Containers) -> Vec<MemoryVictim> {
        if !self.shortage.is_naming() {
            return Vec::new();
        }
        memory_victims(self.overcommitted(containers), self.short_bytes())
    }

    /// The containers that started after the requests of older ones had filled the node's physical memory, youngest
    /// first.
    fn overcommitted(&self, containers: &Containers) -> Vec<VictimCandidate> {
        let asked = containers.iter().filter_map(|(id, container)| {
            Some(VictimCandidate {
                id: id.clone(),
                started: container.root?.start_ticks,
                request_bytes: container.running.request_memory_bytes,
                resident_bytes: container.sensor.resident_bytes(),
            })
        });
        overcommitted(asked.collect(), self.memory_bytes)
    }

    /// The containers whose JVMs may be asked to return memory for the node.
    fn may_be_asked(&self, host: &Host, heaps: &NodeHeaps, now: Instant) -> BTreeSet<ContainerId> {
        if !heaps.follow {
            return BTreeSet::new();
        }
        let overcommitted = self.overcommitted(&host.containers).into_iter().map(|one| one.id);
        // Elastane leaves containers alone that it does not limit.
        overcommitted.filter(|id| host.plan.wanted(id, now).0 != Limits::default()).collect()
    }

    /// Logs and audits the victims that the reading before did not name.
    fn record_named(&mut self, host: &mut Host) {
        let victims = self.memory_victims(&host.containers);
        let was_named = |id: &str| self.named.iter().any(|former| former.container == id);
        for victim in victims.iter().filter(|one| !was_named(&one.container)) {
            if let Ok(id) = victim.container.parse::<ContainerId>() {
                let shortfall = self.shortfall(victim);
                log::info!("{id} is named to the ResourceManager: {shortfall}");
                host.actuator.audit.record(&id, Reason::Named, shortfall);
            }
        }
        self.named = victims;
    }

    fn kill_first_victim(&mut self, host: &mut Host, now: Instant) {
        let Some(victim) = self.named.first() else {
            return;
        };
        if let Some((id, container)) = named(&host.containers, &victim.container) {
            let processes = host.reader.kill(container);
            let shortfall = self.shortfall(victim);
            let count = processes.count();
            log::warn!("{id} is killed, {count} processes: {shortfall}");
            let (id, root) = (id.clone(), container.root);
            self.kill = Some(Kill { id, root, processes, shortfall, begun: now });
        }
    }

    /// Kills what was started meanwhile. Records how many processes have ended, once all have, or after a while.
    fn follow_kill(&mut self, host: &mut Host, now: Instant) {
        let Host { containers, reader, actuator, .. } = host;
        let Some(kill) = &mut self.kill else {
            return;
        };
        let killed = containers.get(&kill.id).filter(|container| container.root == kill.root);
        let known = kill.processes.count();
        if let Some(container) = killed {
            reader.kill_again(container, &mut kill.processes);
        }
        let (count, ended) = (kill.processes.count(), kill.processes.ended(&reader.proc));
        let is_late = now.saturating_duration_since(kill.begun) >= KILLED_WITHIN;
        let is_over = count == known && ended == count;
        if !is_over && !is_late {
            return;
        }
        // Also counts processes that started after the last pass of killing.
        let running = killed.map_or(0, |container| reader.running(container).count());
        let left = count.saturating_sub(ended).max(running);
        let Some(Kill { id, shortfall, .. }) = self.kill.take() else {
            return;
        };
        if left > 0 {
            let message = format!(
                "{id} was killed, and {left} of its processes still run {KILLED_WITHIN:?} later"
            );
            actuator.troubles.warn("killed processes that live", message);
        }
        actuator.audit.killed(&id, ended, left, shortfall);
    }
}
