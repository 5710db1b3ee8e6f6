//! `elastane explain` of a queue.

use std::collections::HashSet;
use std::io::Write;

use serde_json::{Value, json};

use super::resource_manager::ResourceManager;
use super::words::{counted, gib_of_mb, text, waiting};
use crate::failure::Failure;

/// The newest decisions of the cluster among which those about a queue's applications are looked for; decisions do not
/// name a queue.
pub(super) const SEARCHED: usize = 1_000;

/// With `most` decisions about its applications and those below it, oldest first.
pub(super) fn queue(manager: &ResourceManager, path: &str, most: usize) -> Result<Value, Failure> {
    let mut queues = manager.get("queues", &[("limit", "10000")])?;
    let queues = queues["queues"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let queue = queues.into_iter().find(|it| it["queue"] == path);
    let queue = queue.ok_or_else(|| Failure::BadInput(format!("there is no queue {path}")))?;
    let of_queue = [("queue", path), ("limit", "10000")];
    let mut applications = manager.get("applications", &of_queue)?;
    let mut applications =
        applications["applications"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let decisions = match most {
        0 => Vec::new(),
        most => decisions(manager, &applications, most)?,
    };
    applications.retain(|it| it["state"] == "waiting");
    Ok(json!({"queue": queue, "waiting": applications, "decisions": decisions}))
}

fn decisions(
    manager: &ResourceManager,
    applications: &[Value],
    most: usize,
) -> Result<Vec<Value>, Failure> {
    let ids: HashSet<_> = applications.iter().filter_map(|it| it["application"].as_str()).collect();
    let mut found = manager.get("decisions", &[("limit", &SEARCHED.to_string())])?;
    let mut found = found["decisions"].as_array_mut().map(std::mem::take).unwrap_or_default();
    found.retain(|it| it["application"].as_str().is_some_and(|id| ids.contains(id)));
    found.truncate(most);
    found.reverse();
    Ok(found)
}

pub(super) fn print_queue(
    queue: &Value,
    waits: &Value,
    output: &mut Vec<u8>,
) -> Result<(), Failure> {
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
    for one in waits.as_array().into_iter().flatten() {
        let (id, name) = (text(&one["application"]), text(&one["name"]));
        writeln!(output, "{id} ({name}) {}", waiting(&one["waiting"]))?;
    }
    Ok(())
}
