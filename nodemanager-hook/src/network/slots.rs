//! Numbers of the measured groups.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

/// The number of groups that can be measured at the same time.
pub const MOST_GROUPS: u32 = 1024;

/// The numbers in use.
#[derive(Debug, Default)]
pub struct SlotNumbers(Mutex<BTreeSet<u32>>);

/// The number of a group. Dropping it frees the number.
#[derive(Debug)]
pub struct Slot {
    number: u32,
    slots: Arc<SlotNumbers>,
}

impl SlotNumbers {
    /// Takes the lowest free number, so that a reading of the first few slots covers all groups;
    /// `None` when [`MOST_GROUPS`] are in use.
    pub fn take(slots: &Arc<Self>) -> Option<Slot> {
        let mut used = slots.0.lock();
        let number = (0..MOST_GROUPS).find(|number| !used.contains(number))?;
        used.insert(number);
        Some(Slot { number, slots: Arc::clone(slots) })
    }

    /// One more than the highest number in use.
    pub fn count(&self) -> u32 {
        let highest = self.0.lock().last().copied();
        highest.map_or(0, |highest| highest + 1)
    }
}

impl Slot {
    /// Below [`MOST_GROUPS`].
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.0.lock().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_number_is_taken() {
        let slots = Arc::new(SlotNumbers::default());
        let taken = [0, 1, 2].map(|_| SlotNumbers::take(&slots).unwrap());
        assert_eq!(taken.each_ref().map(Slot::number), [0, 1, 2]);
        assert_eq!(slots.count(), 3);
        let [first, second, third] = taken;
        drop((first, third));
        assert_eq!(slots.count(), 2);
        assert_eq!(SlotNumbers::take(&slots).unwrap().number(), 0);
        assert_eq!(second.number(), 1);
    }
}
