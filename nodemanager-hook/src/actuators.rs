//! Everything that changes something on the node, and nothing else does.

mod change_order;
mod kernel_files;
mod limit_file;
mod limiter;
mod limits;
mod own_groups;
mod pass_on;
mod process_moves;

pub use kernel_files::{
    Change, KernelFileError, KernelFiles, limits_of, read_pids, read_pids_below, read_text,
    write_text,
};
pub use limit_file::{LimitFile, Value};
pub use limiter::{Circumstances, LimitError, Limiter, Owner, Place, Step};
#[cfg(fuzzing)]
pub use limits::cpu::{CpuLimits, cpu_v1, cpu_v2, period_us};
pub use limits::memory::Margin;
pub use own_groups::{OwnGroups, container_of};
pub use pass_on::take_back;
pub use process_moves::{Moved, empty_group, move_process};
