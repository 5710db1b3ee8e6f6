//! `elastane explain` of a queue.

use std::io::Write;

use serde_json::{Value, json};

use super::resource_manager::ResourceManager;
use super::words::{capacity_scheduler_says, counted, gib_of_mb, number, text, waiting};
use crate::failure::Failure;
use crate::units::count;

/// With what waits in it and below.
pub(super) fn queue(manager: &ResourceManager, path: &str) -> Result<Value, Failure> {
    let mut queues = manager.get("queues", &[("limit", "10000")])?;
    let queues = queues["queues"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let queue = queues.into_iter().find(|it| it["queue"] == path);
    let queue = queue.ok_or_else(|| Failure::BadInput(format!("there is no queue {path}")))?;
    // The server filters by state: among the newest of all states, those that wait longest could be missing.
    let query = [("queue", path), ("state", "waiting"), ("limit", "10000")];
    let mut answer = manager.get("applications", &query)?;
    let waiting = answer["applications"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let left_out = number(&answer["total"]).saturating_sub(waiting.len() as u64);
    Ok(json!({"queue": queue, "waiting": waiting, "waiting_left_out": left_out}))
}

pub(super) fn print_queue(all: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    let queue = &all["queue"];
    writeln!(
        output,
        "{}: mode {}, {}, {} in it and below",
        text(&queue["queue"]),
        text(&queue["mode"]),
        text(&queue["state"]),
        counted(&queue["applications"], "application"),
    )?;
    for label in queue["labels"].as_array().into_iter().flatten() {
        let memory = |kind: &str| gib_of_mb(&label[format!("{kind}_memory_mb")]);
        let name = match label["label"].as_str() {
            Some("") | None => String::new(),
            Some(name) => format!(" of label {name}"),
        };
        writeln!(
            output,
            "{} % (at most {} %){name}: {} GiB bookable, {} booked, {} planned, {} used",
            text(&label["capacity_percent"]),
            text(&label["maximum_capacity_percent"]),
            memory("bookable"),
            memory("booked"),
            memory("planned"),
            memory("used"),
        )?;
    }
    for one in all["waiting"].as_array().into_iter().flatten() {
        let (id, name) = (text(&one["application"]), text(&one["name"]));
        writeln!(output, "{id} ({name}) {}", waiting(&one["waiting"]))?;
        if let Some(words) = capacity_scheduler_says(&one["waiting"]) {
            writeln!(output, "  {words}")?;
        }
    }
    let left_out = number(&all["waiting_left_out"]) as usize;
    if left_out > 0 {
        let verb = if left_out == 1 { "waits" } else { "wait" };
        let older = count(left_out, "older application");
        writeln!(output, "Not shown: {older} {verb} too")?;
    }
    Ok(())
}
