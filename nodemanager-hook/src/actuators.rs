//! Changes to the node: limits, groups and the processes in them. No other module changes them.

mod change_order;
mod cpu_limits;
mod disk_limits;
mod file_access;
mod group_state;
mod kernel_files;
mod limit_error;
mod limit_file;
mod limiter;
mod memory_limits;
mod own_groups;
mod pass_on;
mod process_moves;
mod reclaims;
mod urgent_raises;

#[cfg(fuzzing)]
pub use cpu_limits::{cpu_settings, period_us};
pub use file_access::{KernelFileError, read_text, write_text};
pub use group_state::{limits_of, read_limit, read_pids, read_pids_below};
pub use kernel_files::KernelFiles;
pub use limit_error::LimitError;
pub use limit_file::{Change, LimitFile, Setting, Value};
pub use limiter::{Circumstances, LimitPlace, LimitStep, Limiter, Owner};
pub use memory_limits::{Margin, reclaiming};
pub use own_groups::{OwnGroups, container_of, refused_by_systemd};
pub use pass_on::take_back;
pub use process_moves::{Moved, empty_group, move_process, no_former_group};
pub use reclaims::{Lowered, Reclaims};
pub use urgent_raises::UrgentRaises;
