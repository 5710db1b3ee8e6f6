//! The offsets of the heap's counters in a file, and their sums.

use super::{Collector, Entry, Heap, PerfDataError, entries::Shape};

/// Capacities are whole pages, but G1 of Java 17 counts 8 bytes too many for each space.
const CAPACITY_UNIT_BYTES: u64 = 1024;
const NUMBER_BYTES: usize = 8;

/// The offsets of the counters that make up a [`Heap`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeapCounters {
    shape: Shape,
    used: Vec<usize>,
    committed: Vec<usize>,
    max: Vec<usize>,
    /// A collector that moves the border between generations reports the bound of the whole heap
    /// for each generation.
    has_one_bound: bool,
}

impl HeapCounters {
    pub fn new(shape: Shape) -> Self {
        Self {
            shape,
            used: Vec::new(),
            committed: Vec::new(),
            max: Vec::new(),
            has_one_bound: false,
        }
    }

    /// Keeps the offset of a counter of the heap.
    pub fn take(&mut self, entry: &Entry<'_>) {
        let (Ok(name), Some(at)) = (str::from_utf8(entry.name), entry.number_at) else {
            return;
        };
        let Some(rest) = name.strip_prefix("sun.gc.generation.") else {
            return;
        };
        let parts: Vec<&str> = rest.split('.').collect();
        match parts[..] {
            [_, "capacity"] => self.committed.push(at),
            [_, "maxCapacity"] => self.max.push(at),
            [_, "space", _, "used"] => self.used.push(at),
            _ => {}
        }
    }

    /// Ends the search; fails if a kind of counter is missing.
    pub fn complete(mut self, collector: Collector) -> Result<Self, PerfDataError> {
        self.has_one_bound = !matches!(collector, Collector::Serial | Collector::Parallel);
        for (places, name) in [
            (&self.used, "sun.gc.generation.N.space.N.used"),
            (&self.committed, "sun.gc.generation.N.capacity"),
            (&self.max, "sun.gc.generation.N.maxCapacity"),
        ] {
            if places.is_empty() {
                return Err(PerfDataError::Missing { name });
            }
        }
        Ok(self)
    }

    pub fn needed_bytes(&self) -> usize {
        let places = self.used.iter().chain(&self.committed).chain(&self.max);
        places.max().map_or(0, |last| last + NUMBER_BYTES)
    }

    pub fn read(&self, bytes: &[u8]) -> Result<Heap, PerfDataError> {
        if Shape::read(bytes)? != self.shape {
            return Err(PerfDataError::Changed);
        }
        let add = |sum: u64, next: u64| sum.checked_add(next).ok_or(PerfDataError::Value);
        let largest = |largest: u64, next: u64| Ok(largest.max(next));
        let max_bytes = if self.has_one_bound {
            self.fold(bytes, &self.max, largest)?
        } else {
            self.fold(bytes, &self.max, add)?
        };
        Ok(Heap {
            used_bytes: self.fold(bytes, &self.used, add)?,
            committed_bytes: whole(self.fold(bytes, &self.committed, add)?),
            max_bytes: whole(max_bytes),
        })
    }

    fn fold(
        &self,
        bytes: &[u8],
        places: &[usize],
        join: impl Fn(u64, u64) -> Result<u64, PerfDataError>,
    ) -> Result<u64, PerfDataError> {
        places.iter().try_fold(0, |sum, at| {
            let outside = PerfDataError::Entry { at: *at };
            let value = self.shape.number(bytes, *at).ok_or(outside)?;
            let value = u64::try_from(value).map_err(|_| PerfDataError::Value)?;
            join(sum, value)
        })
    }
}

fn whole(bytes: u64) -> u64 {
    bytes - bytes % CAPACITY_UNIT_BYTES
}
