//! Everything that changes something on the node, and nothing else does.

mod cpu_limit;
mod kernel_files;
mod own_groups;
mod process_moves;

pub use cpu_limit::{CpuLimit, CpuLimiter, LimitError};
pub use kernel_files::{KernelFileError, KernelFiles, read_pids, read_pids_below};
pub use own_groups::{OwnGroups, container_of};
pub use process_moves::{Moved, empty_group, move_process};
