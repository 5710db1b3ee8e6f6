//! The network of groups: BPF programs that count, and that limit what a group receives.

use std::{
    collections::BTreeSet,
    fs::File,
    io,
    os::fd::AsFd,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::{
    attachment::{Attachment, Mechanism},
    bpf::{ArrayMap, Program},
    error::NetworkError,
    programs::{
        COUNTER_WORDS, Counters, DROPPED_PACKETS, Direction, LIMIT_WORDS, Limits,
        RECEIVE_NS_PER_MIB, RECEIVED_BYTES, SEND_PRIORITY, SENT_BYTES, receive_ns_per_mib,
    },
    shaper::EgressClass,
};

/// How many groups can be measured at the same time.
pub const MOST_GROUPS: u32 = 1024;

/// What one group received and sent since it was attached, IP headers included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkCounters {
    /// Bytes that its sockets got.
    pub received_bytes: u64,
    /// Bytes that its sockets sent, sent again included.
    pub sent_bytes: u64,
    /// Packets for it that the receive limit dropped; they are not in `received_bytes`. As the kernel
    /// counts them here, several segments of a connection may be one packet.
    pub dropped_packets: u64,
}

/// Measures and limits the network of groups. Its maps and programs vanish with it.
#[derive(Debug)]
pub struct Network {
    shared: Arc<Shared>,
    mechanism: Mechanism,
    can_read_batch: bool,
}

/// One group that is measured. Dropping it takes the programs off the group.
#[derive(Debug)]
pub struct GroupNetwork {
    // Before the slot: nothing may count there any more when it is free.
    _attachments: [Attachment; 2],
    slot: Slot,
    /// How many were attached before it.
    place: u64,
    limits: Limits,
}

/// The counters of all groups at one moment.
#[derive(Debug)]
pub struct AllCounters {
    counters: Vec<Counters>,
    /// How many groups had been attached by then.
    attached: u64,
}

#[derive(Debug)]
struct Shared {
    counters: ArrayMap<COUNTER_WORDS>,
    limits: ArrayMap<LIMIT_WORDS>,
    used: Mutex<BTreeSet<u32>>,
    attached: AtomicU64,
}

/// A key of both maps, free again when it is dropped.
#[derive(Debug)]
struct Slot {
    number: u32,
    shared: Arc<Shared>,
}

impl Network {
    /// Makes the maps, and tries whether the kernel takes programs and lets them be attached.
    ///
    /// # Errors
    /// What this host lacks.
    pub fn open() -> Result<Self, NetworkError> {
        let shared = Shared::new()?;
        let can_link = shared.load(Direction::Receive, 0)?.can_link();
        let can_link =
            can_link.map_err(|error| NetworkError::unavailable("attach a program", error))?;
        let mechanism = if can_link {
            Mechanism::Link
        } else {
            log::info!("Linux before 5.7: BPF programs stay after a killed agent until the next");
            Mechanism::Program
        };
        Ok(Self::new(shared, mechanism))
    }

    /// As [`Self::open`], with a mechanism that the kernel has to have.
    ///
    /// # Errors
    /// What this host lacks.
    pub fn open_with(mechanism: Mechanism) -> Result<Self, NetworkError> {
        Ok(Self::new(Shared::new()?, mechanism))
    }

    fn new(shared: Shared, mechanism: Mechanism) -> Self {
        let can_read_batch = shared.counters.get_first(1).is_ok();
        if !can_read_batch {
            log::info!("Linux before 5.6: the counters of each container are read one by one");
        }
        Self {
            shared: Arc::new(shared),
            mechanism,
            can_read_batch,
        }
    }

    /// How programs are attached here.
    pub fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    /// Whether the counters of all groups are read by one call.
    pub fn can_read_batch(&self) -> bool {
        self.can_read_batch
    }

    /// Begins to measure a group and all groups in it. A socket belongs to the group where its
    /// process was when it made it: what was open before the process came here is not counted.
    ///
    /// `group` is a directory in a cgroup2 file system.
    ///
    /// # Errors
    /// A group that is gone or of another kind; where somebody attached a program above it that
    /// allows no other.
    pub fn attach(&self, group: &Path) -> Result<GroupNetwork, NetworkError> {
        let directory =
            File::open(group).map_err(|error| NetworkError::group("open group", group, error))?;
        let slot = Slot::take(&self.shared).ok_or_else(|| NetworkError::Full {
            group: group.into(),
            most: MOST_GROUPS,
        })?;
        let failed = |error| NetworkError::group("clear the counters of", group, error);
        self.shared
            .counters
            .set(slot.number, &[0; COUNTER_WORDS])
            .map_err(failed)?;
        let limits = [0; LIMIT_WORDS];
        self.shared
            .limits
            .set(slot.number, &limits)
            .map_err(failed)?;
        // Readings from here on see the counters cleared.
        let place = self.shared.attached.fetch_add(1, Ordering::AcqRel);
        let attach = |direction: Direction| {
            let program = self.shared.load(direction, slot.number)?;
            Attachment::new(program, directory.as_fd(), direction, self.mechanism)
                .map_err(|error| NetworkError::group("attach a BPF program to", group, error))
        };
        let [receive, send] = Direction::ALL;
        Ok(GroupNetwork {
            _attachments: [attach(receive)?, attach(send)?],
            slot,
            place,
            limits,
        })
    }

    /// Reads the counters of all groups, by one call where the kernel can.
    ///
    /// # Errors
    /// Those of reading a map.
    pub fn read(&self) -> io::Result<AllCounters> {
        let attached = self.shared.attached.load(Ordering::Acquire);
        let highest = self.shared.used.lock().last().copied();
        let count = highest.map_or(0, |highest| highest + 1);
        let counters = &self.shared.counters;
        let all = if self.can_read_batch {
            counters.get_first(count)?
        } else {
            (0..count)
                .map(|slot| counters.get(slot))
                .collect::<io::Result<_>>()?
        };
        Ok(AllCounters {
            counters: all,
            attached,
        })
    }
}

impl AllCounters {
    /// The counters of a group; zeros when it was attached after the reading.
    pub fn of(&self, group: &GroupNetwork) -> NetworkCounters {
        let counters = self.counters.get(group.slot.number as usize);
        // An earlier group may have had its slot.
        let counters = counters.filter(|_| group.place < self.attached);
        counters.copied().unwrap_or_default().into()
    }
}

impl GroupNetwork {
    /// The counters of this group alone.
    ///
    /// # Errors
    /// Those of reading a map.
    pub fn counters(&self) -> io::Result<NetworkCounters> {
        let counters = &self.slot.shared.counters;
        Ok(counters.get(self.slot.number)?.into())
    }

    /// Limits what the group receives, over IP, to this many bytes per second and a quarter of a
    /// second's bytes at once; nothing: no limit. Less than 1024 counts as that. What is above is
    /// dropped, so that TCP senders slow down.
    ///
    /// # Errors
    /// Those of writing a map; the limit stays as it was.
    pub fn set_receive_rate(&mut self, bytes_per_s: Option<u64>) -> io::Result<()> {
        self.set(
            RECEIVE_NS_PER_MIB,
            bytes_per_s.map_or(0, receive_ns_per_mib),
        )
    }

    /// Gives the packets that the group sends a priority, by which HTB finds their class; nothing:
    /// they keep what the socket says.
    ///
    /// # Errors
    /// Those of writing a map; the priority stays as it was.
    pub fn set_priority(&mut self, priority: Option<u32>) -> io::Result<()> {
        self.set(SEND_PRIORITY, priority.unwrap_or(0).into())
    }

    /// A class for what this group sends, which no other group of this [`Network`] has.
    pub fn egress_class(&self) -> EgressClass {
        EgressClass::new(self.slot.number)
    }

    fn set(&mut self, word: usize, value: u64) -> io::Result<()> {
        let mut limits = self.limits;
        limits[word] = value;
        self.slot.shared.limits.set(self.slot.number, &limits)?;
        self.limits = limits;
        Ok(())
    }
}

impl Shared {
    fn new() -> Result<Self, NetworkError> {
        let failed = |error| NetworkError::unavailable("make a map", error);
        Ok(Self {
            counters: ArrayMap::create(MOST_GROUPS, c"elastane_bytes").map_err(failed)?,
            limits: ArrayMap::create(MOST_GROUPS, c"elastane_limits").map_err(failed)?,
            used: Mutex::default(),
            attached: AtomicU64::new(0),
        })
    }

    fn load(&self, direction: Direction, slot: u32) -> Result<Program, NetworkError> {
        let (counters, limits) = (self.counters.descriptor(), self.limits.descriptor());
        let program = direction.program(slot, counters, limits)?;
        Program::load(direction.name(), &program)
            .map_err(|error| NetworkError::unavailable("load a program", error))
    }
}

impl Slot {
    /// The lowest that is free, so that one reading of the first few finds them all.
    fn take(shared: &Arc<Shared>) -> Option<Self> {
        let mut used = shared.used.lock();
        let number = (0..MOST_GROUPS).find(|number| !used.contains(number))?;
        used.insert(number);
        Some(Self {
            number,
            shared: Arc::clone(shared),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.shared.used.lock().remove(&self.number);
    }
}

impl From<Counters> for NetworkCounters {
    fn from(counters: Counters) -> Self {
        Self {
            received_bytes: counters[RECEIVED_BYTES],
            sent_bytes: counters[SENT_BYTES],
            dropped_packets: counters[DROPPED_PACKETS],
        }
    }
}
