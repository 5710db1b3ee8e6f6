//! Usage of containers, by their groups or process trees, and of the whole node.

mod container_sensor;
mod cpu_waits;
mod disk_speed;
mod disks;
mod group_files;
mod group_memory;
mod growth;
mod node_sensor;
mod proc_fs;
mod process;
mod process_table;
mod processes;
mod reading;

pub use container_sensor::{ContainerSensor, MeasuredGroups};
pub use cpu_waits::CpuWaits;
#[cfg(fuzzing)]
pub use disk_speed::{is_virtual_machine, link_bytes_per_s};
pub use disks::{Device, Disks};
pub use group_files::GroupFile;
#[cfg(test)]
pub use group_files::{DiskTraffic, ThrottledTime};
pub use group_memory::GroupMemory;
pub use growth::Growth;
pub use node_sensor::{MemoryState, NodeSensor, pressure};
#[cfg(fuzzing)]
pub use proc_fs::HeldFile;
pub use proc_fs::{ProcFs, is_gone, page_bytes, with_path};
pub use process::{Process, ProcessKey, Users};
pub use process_table::{KernelThreads, ProcessTable};
pub use reading::{Counted, HeldHeap, HeldMemory, Reading};
