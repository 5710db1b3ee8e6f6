//! A reading of the usage of a container or of the node.

use std::time::Instant;

/// Usage from one reading to the next.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub since: Instant,
    pub at: Instant,
    pub counted: Counted,
    pub held: HeldMemory,
}

/// The growth of counters from one reading to the next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    pub cpu_nanoseconds: u64,
    /// Time for which a cap throttled the container.
    pub throttled_nanoseconds: u64,
    /// Time for which threads were ready to run and had no core, added up.
    pub waited_nanoseconds: u64,
    pub disk_read_bytes: u64,
    pub disk_written_bytes: u64,
    pub network_received_bytes: u64,
    pub network_sent_bytes: u64,
}

/// Memory at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldMemory {
    pub resident_bytes: u64,
    /// The part of resident memory that no file backs.
    pub anonymous_bytes: u64,
    /// Pages of files: those that a group is charged for, or that a process has mapped.
    pub file_bytes: u64,
    pub heap: HeldHeap,
}

/// The heaps of JVMs at one moment, by their own counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldHeap {
    pub used_bytes: u64,
    /// Not all of it need be resident.
    pub committed_bytes: u64,
}

impl Counted {
    pub fn add(&mut self, other: Self) {
        add(&mut self.cpu_nanoseconds, other.cpu_nanoseconds);
        add(&mut self.throttled_nanoseconds, other.throttled_nanoseconds);
        add(&mut self.waited_nanoseconds, other.waited_nanoseconds);
        add(&mut self.disk_read_bytes, other.disk_read_bytes);
        add(&mut self.disk_written_bytes, other.disk_written_bytes);
        add(&mut self.network_received_bytes, other.network_received_bytes);
        add(&mut self.network_sent_bytes, other.network_sent_bytes);
    }
}

impl HeldMemory {
    pub fn add(&mut self, other: Self) {
        add(&mut self.resident_bytes, other.resident_bytes);
        add(&mut self.anonymous_bytes, other.anonymous_bytes);
        add(&mut self.file_bytes, other.file_bytes);
        self.heap.add(other.heap);
    }
}

impl HeldHeap {
    pub fn add(&mut self, other: Self) {
        add(&mut self.used_bytes, other.used_bytes);
        add(&mut self.committed_bytes, other.committed_bytes);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}
