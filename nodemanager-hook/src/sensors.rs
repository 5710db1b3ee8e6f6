//! What a container uses: CPU, memory and disk of its process tree.
//!
//! Network is 0: it is not measured yet.

mod container_sensor;
mod growth;
mod proc_fs;
mod process_table;

pub use container_sensor::{ContainerSensor, CpuSource};
pub use proc_fs::{ProcFs, Users};
pub use process_table::{KernelThreads, Process, ProcessKey, ProcessTable};
