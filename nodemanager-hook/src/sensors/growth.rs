//! The growth of counters from one reading to the next.

use std::time::Instant;

use super::{Counted, HeldMemory, Reading, group_files::DiskTraffic};

/// A total that only grows, but can be read too low for a moment: when a child is reaped, the child
/// is gone from the tree while the parent's total may have been read before.
#[derive(Debug, Default)]
pub struct Growth {
    base: Option<u64>,
    fallen: bool,
}

impl Growth {
    /// For a counter that begins now: the first total counts as growth.
    pub fn from_zero() -> Self {
        Self { base: Some(0), fallen: false }
    }

    /// The growth since the last reading; 0 for the first reading and when the total fell.
    ///
    /// A single fall keeps the base, so that nothing is counted twice when the total recovers. A
    /// second consecutive fall is a permanent loss and sets a new base.
    pub fn advance(&mut self, total: u64) -> u64 {
        let base = *self.base.get_or_insert(total);
        if total >= base || self.fallen {
            self.base = Some(total);
            self.fallen = false;
        } else {
            self.fallen = true;
        }
        total.saturating_sub(base)
    }
}

/// The growth of CPU time and disk traffic.
#[derive(Debug, Default)]
pub struct UsageGrowth {
    pub cpu: Growth,
    pub disk_read: Growth,
    pub disk_written: Growth,
    before: Option<Instant>,
}

impl UsageGrowth {
    /// A reading of memory alone, between two full readings: covers no time and no counters. `None` before the first.
    pub fn between(&self, held: HeldMemory) -> Option<Reading> {
        self.before.map(|at| Reading { since: at, at, counted: Counted::default(), held })
    }

    /// A reading from the totals at this moment.
    pub fn reading(
        &mut self,
        cpu_nanoseconds: u64,
        traffic: DiskTraffic,
        held: HeldMemory,
        now: Instant,
    ) -> Reading {
        Reading {
            since: self.before.replace(now).unwrap_or(now),
            at: now,
            counted: Counted {
                cpu_nanoseconds: self.cpu.advance(cpu_nanoseconds),
                disk_read_bytes: self.disk_read.advance(traffic.read_bytes),
                disk_written_bytes: self.disk_written.advance(traffic.written_bytes),
                ..Counted::default()
            },
            held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growths(totals: &[u64]) -> Vec<u64> {
        let mut growth = Growth::default();
        totals.iter().map(|total| growth.advance(*total)).collect()
    }

    #[test]
    fn the_first_reading_is_the_base() {
        assert_eq!(growths(&[100, 130, 130, 135]), [0, 30, 0, 5]);
    }

    #[test]
    fn a_dip_of_one_reading_is_not_counted_twice() {
        assert_eq!(growths(&[100, 40, 110]), [0, 0, 10]);
    }

    #[test]
    fn a_lasting_fall_is_the_new_base() {
        assert_eq!(growths(&[100, 40, 45, 50]), [0, 0, 0, 5]);
    }
}
