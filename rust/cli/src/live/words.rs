//! Parts of the REST's answers in words.

use serde_json::Value;

use crate::units::{count, duration, moment, printable};

/// Where nothing is known.
pub(super) const NOTHING: &str = "-";

pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Null => NOTHING.to_owned(),
        other => other.to_string(),
    }
}

/// Of megabytes.
pub(super) fn gib_of_mb(mb: &Value) -> String {
    mb.as_f64().map_or(NOTHING.to_owned(), |mb| format!("{:.1}", mb / 1024.0))
}

pub(super) fn gib_of_bytes(bytes: &Value) -> String {
    bytes.as_f64().map_or(NOTHING.to_owned(), |bytes| format!("{:.2}", bytes / f64::from(1 << 30)))
}

pub(super) fn cores(cores: &Value) -> String {
    match cores.as_f64() {
        None => NOTHING.to_owned(),
        Some(whole) if cores.is_u64() => format!("{whole:.0}"),
        Some(cores) => format!("{cores:.2}"),
    }
}

pub(super) fn time(ms: &Value) -> String {
    ms.as_i64().map_or(NOTHING.to_owned(), duration)
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// `1 container`, `2 containers`.
pub(super) fn counted(number_of: &Value, noun: &str) -> String {
    count(number(number_of) as usize, noun)
}

/// `waits for 3 containers since 45 s, expected to start in about 20 s, planned to start in 20 s on HOST: why (limit of
/// Elastane)`.
pub(super) fn waiting(waiting: &Value) -> String {
    let start = &waiting["planned_start"];
    let planned = match start["in_ms"].as_i64() {
        Some(in_ms) => {
            format!(", planned to start in {} on {}", duration(in_ms), text(&start["node"]))
        }
        None => String::new(),
    };
    let expected = &waiting["expected_start"];
    let about = if expected["is_rough"] == true { "very roughly" } else { "about" };
    let expected = match expected["in_ms"].as_i64() {
        Some(in_ms) => format!(", expected to start in {about} {}", duration(in_ms)),
        None => String::new(),
    };
    let deadline = &waiting["deadline"];
    let chance = match deadline["chance"].as_f64() {
        Some(chance) => {
            format!("; its deadline is met with a probability of {:.0} %", 100.0 * chance)
        }
        None => String::new(),
    };
    let whose = match waiting["limit_of"].as_str() {
        Some("elastane") => " (limit of Elastane)",
        Some("capacity-scheduler") => " (limit of CapacityScheduler)",
        _ => "",
    };
    format!(
        "waits for {} since {}{expected}{planned}: {}{whose}{chance}",
        counted(&waiting["containers"], "container"),
        time(&waiting["for_ms"]),
        text(&waiting["reason"]),
    )
}

/// CapacityScheduler's own words, in a sentence of their own; none where it has none.
pub(super) fn capacity_scheduler_says(waiting: &Value) -> Option<String> {
    let words = waiting["capacity_scheduler_says"].as_str()?;
    Some(format!("CapacityScheduler says: {}", printable(words)))
}

/// `is expected to end at TIME, with a probability of 80 % between TIME and TIME, by 3 earlier runs`.
pub(super) fn expected_to_end(predicted: &Value) -> Option<String> {
    let time = |name| predicted[name].as_i64().map(moment);
    Some(format!(
        "is expected to end at {}, with a probability of 80 % between {} and {}, by {}",
        time("at_ms")?,
        time("earliest_ms")?,
        time("latest_ms")?,
        counted(&predicted["runs"], "earlier run"),
    ))
}
