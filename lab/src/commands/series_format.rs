//! The format of a folder of recorded runs: `APPLICATION/RUN.csv`, and `APPLICATION/settings.json`.

use std::fmt::Write as _;

use elastane_core::Demand;

/// The first line of a run's file.
pub(crate) const HEADER: &str = "t_s,cpu_cores,memory_bytes,network_bytes_per_s,disk_bytes_per_s";

/// The file with the settings and outcomes of the runs.
pub(crate) const SETTINGS: &str = "settings.json";

/// A run's file, one row per slot.
pub(crate) fn to_csv(series: &Demand) -> String {
    let mut csv = format!("{HEADER}\n");
    for (at, slot) in series.slots().iter().enumerate() {
        let t_s = at as f64 * f64::from(series.slot_ms()) / 1e3;
        let [cpu, memory, network, disk] = slot.to_array();
        // Writing to a string cannot fail.
        let _ = writeln!(csv, "{t_s},{cpu},{memory},{network},{disk}");
    }
    csv
}
