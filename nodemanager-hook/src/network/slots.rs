//! Numbers of the measured groups, and the counters by number.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

use super::counters::NetworkCounters;

/// The number of groups that can be measured at the same time.
pub const MOST_GROUPS: u32 = 1024;

/// The numbers in use.
#[derive(Debug, Default)]
pub struct Slots {
    used: Mutex<BTreeSet<u32>>,
    attached: AtomicU64,
}

/// The number of a group. Dropping it frees the number.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    /// The number of groups attached before this one.
    place: u64,
    slots: Arc<Slots>,
}

/// The counters of all groups at one moment.
#[derive(Debug)]
pub struct AllCounters {
    counters: Vec<NetworkCounters>,
    /// The number of groups attached before the reading.
    attached: u64,
}

impl Slots {
    /// Takes the lowest free number, so that a reading of the first few slots covers all groups;
    /// `None` when [`MOST_GROUPS`] are in use.
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

    /// One more than the highest number in use.
    pub fn count(&self) -> u32 {
        let highest = self.used.lock().last().copied();
        highest.map_or(0, |highest| highest + 1)
    }

    /// The number of groups attached so far. Read it before the counters.
    pub fn attached(&self) -> u64 {
        self.attached.load(Ordering::Acquire)
    }
}

impl Slot {
    /// Below [`MOST_GROUPS`].
    pub fn number(&self) -> u32 {
        self.number
    }

    /// From now on, readings give the counters of this group, not of an earlier one.
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
    /// `counters` by slot number; `attached` from before the reading.
    pub fn new(counters: Vec<NetworkCounters>, attached: u64) -> Self {
        Self { counters, attached }
    }

    /// The counters of a group; zeros if the group was attached after the reading.
    pub fn of(&self, slot: &Slot) -> NetworkCounters {
        let counters = self.counters.get(slot.number as usize);
        // An earlier group may have had the same number.
        let counters = counters.filter(|_| slot.place < self.attached);
        counters.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_from_before_a_group_has_no_counters_of_the_group() {
        let slots = Arc::new(Slots::default());
        let mut earlier = Slots::take(&slots).unwrap();
        earlier.begin();
        let counted = NetworkCounters {
            sent_bytes: 7,
            ..NetworkCounters::default()
        };
        let read = AllCounters::new(vec![counted], slots.attached());
        assert_eq!(read.of(&earlier), counted);
        drop(earlier);
        let mut later = Slots::take(&slots).unwrap();
        assert_eq!(later.number(), 0);
        later.begin();
        assert_eq!(read.of(&later), NetworkCounters::default());
    }
}
