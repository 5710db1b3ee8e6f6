//! One container's limits, why it has them, and why they changed.

use std::io::Write;

use serde_json::Value;

use super::words::{NOTHING, cores, gib_of_bytes, text, time};
use crate::failure::Failure;
use crate::units::moment;

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
        let amount = |value: &Value| or_none(value, amount);
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

/// `TIME  CPU weight: from 0.80 to 0.40 (cores): why`, a line for each change, newest first.
pub(super) fn print_limit_changes(changes: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let changes = changes.as_array().map_or(&[][..], Vec::as_slice);
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(output, "\nHow they changed, newest first")?;
    for one in changes {
        let (name, unit, amount) = kind(&text(&one["limit"]));
        let amount = |value: &Value| or_none(value, amount);
        let at = one["at_ms"].as_i64().map_or(NOTHING.to_owned(), moment);
        let (from, to, why) = (amount(&one["from"]), amount(&one["to"]), text(&one["why"]));
        writeln!(output, "  {at}  {name}: from {from} to {to} ({unit}): {why}")?;
    }
    writeln!(
        output,
        "The audit file of the agent on the node has every write to the kernel (audit.file in agent.toml)"
    )?;
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

fn or_none(value: &Value, amount: fn(&Value) -> String) -> String {
    if value.is_null() { "none".to_owned() } else { amount(value) }
}

fn mib_of_bytes(bytes: &Value) -> String {
    bytes.as_f64().map_or(NOTHING.to_owned(), |bytes| format!("{:.1}", bytes / f64::from(1 << 20)))
}
