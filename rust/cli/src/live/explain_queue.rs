//! `elastane explain` of a queue.

use std::collections::HashSet;
use std::io::Write;

use serde_json::{Value, json};

use super::resource_manager::ResourceManager;
use super::words::{counted, gib_of_mb, number, text, waiting};
use crate::failure::Failure;
use crate::units::count;

/// The newest decisions of the cluster among which those about a queue's applications are looked for; decisions do not
/// name a queue.
pub(super) const SEARCHED: usize = 1_000;
pub(super) const SEARCHED_WRITTEN: &str = "1,000";

/// With `most` decisions about its applications and those below it, oldest first.
pub(super) fn queue(manager: &ResourceManager, path: &str, most: usize) -> Result<Value, Failure> {
    let mut queues = manager.get("queues", &[("limit", "10000")])?;
    let queues = queues["queues"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let queue = queues.into_iter().find(|it| it["queue"] == path);
    let queue = queue.ok_or_else(|| Failure::BadInput(format!("there is no queue {path}")))?;
    // The server filters by state: among the newest of all states, those that wait longest could be missing.
    let (waiting, waiting_left_out) = applications(manager, path, Some("waiting"))?;
    let (decisions, applications_left_out) = match most {
        0 => (Vec::new(), 0),
        most => {
            let (applications, left_out) = applications(manager, path, None)?;
            (decisions(manager, &applications, most)?, left_out)
        }
    };
    Ok(json!({
        "queue": queue,
        "waiting": waiting,
        "waiting_left_out": waiting_left_out,
        "decisions": decisions,
        "applications_left_out": applications_left_out,
    }))
}

/// The newest of a queue and those below it, and how many the answer left out.
fn applications(
    manager: &ResourceManager,
    path: &str,
    state: Option<&str>,
) -> Result<(Vec<Value>, u64), Failure> {
    let mut query = vec![("queue", path), ("limit", "10000")];
    query.extend(state.map(|state| ("state", state)));
    let mut answer = manager.get("applications", &query)?;
    let found = answer["applications"].as_array_mut().map(std::mem::take).unwrap_or_default();
    let left_out = number(&answer["total"]).saturating_sub(found.len() as u64);
    Ok((found, left_out))
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
    }
    let left_out = number(&all["waiting_left_out"]) as usize;
    if left_out > 0 {
        let verb = if left_out == 1 { "waits" } else { "wait" };
        let older = count(left_out, "older application");
        writeln!(output, "Not shown: {older} {verb} too")?;
    }
    Ok(())
}

/// That no decision was found, and about which applications none was looked for.
pub(super) fn print_searched(all: &Value, output: &mut Vec<u8>) -> Result<(), Failure> {
    if all["decisions"].as_array().is_none_or(Vec::is_empty) {
        writeln!(
            output,
            "\nDecisions about its applications: none among the newest {SEARCHED_WRITTEN} of the cluster"
        )?;
    }
    let left_out = number(&all["applications_left_out"]);
    if left_out > 0 {
        writeln!(
            output,
            "Decisions about its oldest applications ({left_out}) were not looked for"
        )?;
    }
    Ok(())
}
