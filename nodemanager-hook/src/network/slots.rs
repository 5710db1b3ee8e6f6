//! Numbers of the groups that are measured, and their counters by number.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::{networks::NetworkCounters, shaper::EgressClass};

/// How many groups can be measured at the same time.
pub const MOST_GROUPS: u32 = 1024;

/// Which numbers are taken.
#[derive(Debug, Default)]
pub struct Slots {
    used: Mutex<BTreeSet<u32>>,
    attached: AtomicU64,
}

/// A number of a group, free again when it is dropped.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    /// How many groups had begun before this one.
    place: u64,
    slots: Arc<Slots>,
}

/// The counters of all groups at one moment.
#[derive(Debug)]
pub struct AllCounters {
    counters: Vec<NetworkCounters>,
    /// How many groups had begun by then.
    attached: u64,
}

impl Slots {
    /// The lowest that is free, so that one reading of the first few finds them all; nothing when
    /// [`MOST_GROUPS`] are taken.
    pub fn take(slots: &Arc<Self>) -> Option<Slot> {
        let mut used = slots.used.lock();
        let number = (0..MOST_GROUPS).find(|number| !used.contains(number))?;
        used.insert(number);
        Some(Slot {
            number,
            place: u64::MAX,
            slots: Arc::clone(slots),
        })
    }

    /// One more than the highest number that is taken.
    pub fn count(&self) -> u32 {
        let highest = self.used.lock().last().copied();
        highest.map_or(0, |highest| highest + 1)
    }

    /// How many groups have begun; to be asked before their counters are read.
    pub fn attached(&self) -> u64 {
        self.attached.load(Ordering::Acquire)
    }
}

impl Slot {
    /// Below [`MOST_GROUPS`].
    pub fn number(&self) -> u32 {
        self.number
    }

    /// A class for what the group sends, which no other group has.
    pub fn egress_class(&self) -> EgressClass {
        EgressClass::new(self.number)
    }

    /// Readings from here on see the counters of this group and not those of an earlier one.
    pub fn begin(&mut self) {
        self.place = self.slots.attached.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.used.lock().remove(&self.number);
    }
}

impl AllCounters {
    /// `counters` by the numbers of the groups; `attached` from before they were read.
    pub fn new(counters: Vec<NetworkCounters>, attached: u64) -> Self {
        Self { counters, attached }
    }

    /// The counters of a group; zeros when it began after the reading.
    pub fn of_slot(&self, slot: &Slot) -> NetworkCounters {
        let counters = self.counters.get(slot.number as usize);
        // An earlier group may have had its number.
        let counters = counters.filter(|_| slot.place < self.attached);
        counters.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_nothing_of_what_was_read_before_it_began() {
        let slots = Arc::new(Slots::default());
        let mut earlier = Slots::take(&slots).unwrap();
        earlier.begin();
        let counted = NetworkCounters {
            sent_bytes: 7,
            ..NetworkCounters::default()
        };
        let read = AllCounters::new(vec![counted], slots.attached());
        assert_eq!(read.of_slot(&earlier), counted);
        drop(earlier);
        let mut later = Slots::take(&slots).unwrap();
        assert_eq!(later.number(), 0);
        later.begin();
        assert_eq!(read.of_slot(&later), NetworkCounters::default());
    }
}
