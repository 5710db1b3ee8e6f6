//! A run as `elastane-lab evaluate` reads it.

use std::fmt::{Error, Write};

use elastane_core::Demand;

/// A header and one line a slot.
pub fn csv(used: &Demand) -> Result<String, Error> {
    let mut csv = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s\n".to_owned();
    for (at, slot) in used.slots().iter().enumerate() {
        let t_s = at as f64 * f64::from(used.slot_ms()) / 1e3;
        let [cpu, memory, network, disk] = slot.to_array();
        writeln!(csv, "{t_s},{cpu:.3},{memory:.0},{network:.0},{disk:.0}")?;
    }
    Ok(csv)
}
