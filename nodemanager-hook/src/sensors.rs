//! What a container uses: CPU, memory and disk of its process tree; and what the whole node uses.

mod container_sensor;
mod disk_speed;
mod disks;
mod group_files;
mod growth;
mod node_sensor;
mod proc_fs;
mod process_table;
mod processes;

pub use container_sensor::{ContainerSensor, MeasuredGroups};
#[cfg(fuzzing)]
pub use disk_speed::{is_virtual_machine, link_bytes_per_s};
pub use disks::{Device, Disks};
#[cfg(any(fuzzing, test))]
pub use group_files::GroupFile;
#[cfg(test)]
pub use group_files::{DiskTraffic, Throttling};
pub use growth::Growth;
pub use node_sensor::{MemoryState, NodeSensor, pressure};
#[cfg(fuzzing)]
pub use proc_fs::HeldFile;
pub use proc_fs::{ProcFs, Users};
pub use process_table::{KernelThreads, Process, ProcessKey, ProcessTable};

/// Memory at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldMemory {
    pub resident_bytes: u64,
    /// Of what is resident, that no file stands behind.
    pub anonymous_bytes: u64,
    /// Pages of files: what a group is charged for, or what a process has mapped.
    pub file_bytes: u64,
    /// Of its JVMs.
    pub heap: HeldHeap,
}

/// What the heaps of JVMs hold at a moment, by their own counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeldHeap {
    pub used_bytes: u64,
    /// Not all of it need be resident.
    pub committed_bytes: u64,
}

impl HeldMemory {
    /// Adds what somebody else holds.
    pub fn add(&mut self, other: Self) {
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        add(&mut self.resident_bytes, other.resident_bytes);
        add(&mut self.anonymous_bytes, other.anonymous_bytes);
        add(&mut self.file_bytes, other.file_bytes);
        self.heap.add(other.heap);
    }
}

impl HeldHeap {
    /// Adds another heap.
    pub fn add(&mut self, other: Self) {
        let add = |sum: &mut u64, bytes: u64| *sum = sum.saturating_add(bytes);
        add(&mut self.used_bytes, other.used_bytes);
        add(&mut self.committed_bytes, other.committed_bytes);
    }
}
