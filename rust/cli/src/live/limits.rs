//! One container's limits, and why it has them.

use std::io::Write;

use serde_json::Value;

use super::words::{NOTHING, cores, gib_of_bytes, text, time};
use crate::failure::Failure;

/// `CPU weight: 0.80 in force, 0.80 planned, 0.40 in 21 s (cores): why`, a line for each limit.
pub(super) fn print_limits(limits: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(limits) = limits.as_array() else {
        writeln!(output, "\nIts limits are not known: its node's agent has not reported")?;
        return Ok(());
    };
    if limits.is_empty() {
        writeln!(output, "\nNo limit is planned or in force")?;
        return Ok(());
    }
    writeln!(output, "\nIts limits")?;
    for one in limits {
        let (name, unit, amount) = kind(&text(&one["limit"]));
        let amount = |value: &Value| match value {
            Value::Null => "none".to_owned(),
            value => amount(value),
        };
        let next = match &one["next_in_ms"] {
            Value::Null => String::new(),
            in_ms => format!(", {} in {}", amount(&one["next"]), time(in_ms)),
        };
        let (in_force, planned) = (amount(&one["in_force"]), amount(&one["planned"]));
        let why = text(&one["why"]);
        writeln!(output, "  {name}: {in_force} in force, {planned} planned{next} ({unit}): {why}")?;
    }
    Ok(())
}

/// Its name, the unit and how an amount is written.
fn kind(limit: &str) -> (&'static str, &'static str, fn(&Value) -> String) {
    match limit {
        "cpu_weight_cores" => ("CPU weight", "cores", cores),
        "cpu_cap_cores" => ("CPU cap", "cores", cores),
        "memory_bytes" => ("memory", "GiB", gib_of_bytes),
        "disk_cap_bytes_per_s" => ("disk cap", "MiB/s", mib_of_bytes),
        "network_weight_bytes_per_s" => ("network weight", "MiB/s", mib_of_bytes),
        "network_cap_bytes_per_s" => ("network cap", "MiB/s", mib_of_bytes),
        _ => ("another limit", "", text),
    }
}

fn mib_of_bytes(bytes: &Value) -> String {
    bytes.as_f64().map_or(NOTHING.to_owned(), |bytes| format!("{:.1}", bytes / f64::from(1 << 20)))
}
