//! A container's limits as values of kernel files: one function per resource and cgroup version,
//! without I/O.

pub mod cpu;
pub mod disk;
pub mod memory;

use super::{LimitFile, Value};

/// A limit file and its new value. Settings are listed in the order in which they must be written.
pub type Setting = (LimitFile, Value);
