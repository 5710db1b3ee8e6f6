//! The network of groups by BPF programs, which count traffic and limit received traffic.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
    sync::Arc,
};

use super::{
    bpf::{ArrayMap, Program},
    error::NetworkError,
    networks::{AllCounters, GroupNetwork, NetworkCounters, Networks},
    programs::{
        COUNTER_WORDS, CounterWords, DROPPED_PACKETS, Direction, LIMIT_WORDS, LimitWords,
        RECEIVE_NS_PER_MIB, RECEIVED_BYTES, SEND_PRIORITY, SENT_BYTES, receive_ns_per_mib,
    },
    slots::{MOST_GROUPS, Slot, SlotNumbers},
};

/// The maps. Dropping this frees them.
#[derive(Debug)]
pub struct BpfNetworks(Arc<Maps>);

#[derive(Debug)]
struct BpfGroup {
    // Declared before the slot: a free slot must have no program that still counts. The kernel
    // detaches the programs when the descriptors are closed, however the agent ends.
    _links: [OwnedFd; 2],
    slot: Slot,
    maps: Arc<Maps>,
    limits: LimitWords,
}

#[derive(Debug)]
struct Maps {
    counters: ArrayMap<COUNTER_WORDS>,
    limits: ArrayMap<LIMIT_WORDS>,
    slots: Arc<SlotNumbers>,
}

impl BpfNetworks {
    /// Creates the maps, and probes whether the kernel accepts and attaches programs.
    pub fn open() -> Result<Self, NetworkError> {
        let failed = |error| NetworkError::unavailable("make a map", error);
        let maps = Maps {
            counters: ArrayMap::create(MOST_GROUPS).map_err(failed)?,
            limits: ArrayMap::create(MOST_GROUPS).map_err(failed)?,
            slots: Arc::default(),
        };
        let checked = maps.load(Direction::Receive, 0)?.check_link();
        checked.map_err(|error| NetworkError::unavailable("attach a program", error))?;
        Ok(Self(Arc::new(maps)))
    }
}

impl Networks for BpfNetworks {
    /// `group` is a directory in a cgroup2 file system. Sockets that were opened before their
    /// process joined the group are not counted.
    fn attach(&self, group: &Path) -> Result<Box<dyn GroupNetwork>, NetworkError> {
        let directory =
            File::open(group).map_err(|error| NetworkError::group("open group", group, error))?;
        let maps = &self.0;
        let slot = SlotNumbers::take(&maps.slots).ok_or_else(|| NetworkError::full(group))?;
        let number = slot.number();
        let failed = |error| NetworkError::group("clear the counters of", group, error);
        maps.counters.set(number, &[0; COUNTER_WORDS]).map_err(failed)?;
        let limits = [0; LIMIT_WORDS];
        maps.limits.set(number, &limits).map_err(failed)?;
        let attach = |direction: Direction| {
            let link = maps.load(direction, number)?.link(directory.as_fd(), direction);
            link.map_err(|error| NetworkError::group("attach a BPF program to", group, error))
        };
        let [receive, send] = Direction::ALL;
        Ok(Box::new(BpfGroup {
            _links: [attach(receive)?, attach(send)?],
            slot,
            maps: Arc::clone(maps),
            limits,
        }))
    }

    fn read(&self) -> io::Result<AllCounters> {
        let all = self.0.counters.get_first(self.0.slots.count())?;
        Ok(AllCounters(all.into_iter().map(counters_of).collect()))
    }

    fn counts(&self) -> bool {
        true
    }
}

impl GroupNetwork for BpfGroup {
    fn slot(&self) -> &Slot {
        &self.slot
    }

    /// Bursts of up to a quarter of a second pass. Rates below 1024 count as 1024.
    fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()> {
        self.set(RECEIVE_NS_PER_MIB, bytes_per_s.map_or(0, receive_ns_per_mib))
    }

    fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()> {
        self.set(SEND_PRIORITY, priority.unwrap_or(0).into())
    }
}

impl BpfGroup {
    fn set(&mut self, word: usize, value: u64) -> io::Result<()> {
        let mut limits = self.limits;
        limits[word] = value;
        self.maps.limits.set(self.slot.number(), &limits)?;
        self.limits = limits;
        Ok(())
    }
}

impl Maps {
    fn load(&self, direction: Direction, slot: u32) -> Result<Program, NetworkError> {
        let (counters, limits) = (self.counters.descriptor(), self.limits.descriptor());
        let program = direction.program(slot, counters, limits);
        Program::load(direction.name(), &program)
            .map_err(|error| NetworkError::unavailable("load a program", error))
    }
}

fn counters_of(words: CounterWords) -> NetworkCounters {
    NetworkCounters {
        received_bytes: words[RECEIVED_BYTES],
        sent_bytes: words[SENT_BYTES],
        dropped_packets: words[DROPPED_PACKETS],
    }
}
