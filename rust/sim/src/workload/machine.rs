//! Sizes of machines.

use elastane_core::Resources;

/// Bytes in a GiB.
pub const GIB: f64 = (1_u64 << 30) as f64;
/// Bytes per second in a Gbit/s.
pub const GIGABIT_PER_S: f64 = 125e6;
/// Bytes per second in a MB/s.
pub const MEGABYTE_PER_S: f64 = 1e6;

/// The machine on which traces run, since they name none: Elasecutor's, with two disks. The paper's
/// Figure 6 has a machine of 500 MB/s.
pub const TRACE_MACHINE: Resources = Resources {
    cpu_cores: 16.0,
    memory_bytes: 64.0 * GIB,
    network_bytes_per_s: 10.0 * GIGABIT_PER_S,
    disk_bytes_per_s: 500.0 * MEGABYTE_PER_S,
};
