//! The tables of advice, for the terminal and the page.

use super::answer::{Comparison, Figures, Gain};
use super::sentences::{change, seconds};
use crate::table::Table;
use crate::units::{count, hours, shortened};

pub(super) const QUEUES: &str =
    "Queues, with their mean completion times and their parts of the node-hours";
pub(super) const APPLICATIONS: &str = "Applications with their completion times, the greatest saving first, and their parts of the node-hours";

/// The figures of the record and of both replays.
pub(super) const MEASURES: [Measure; 4] = [
    Measure { heading: "makespan, s", of: |it| it.makespan_s, write: seconds },
    Measure { heading: "mean completion, s", of: |it| it.mean_completion_s, write: seconds },
    Measure { heading: "mean wait, s", of: |it| it.mean_wait_s, write: seconds },
    Measure { heading: "node-hours", of: |it| it.node_hours, write: hours },
];

pub(super) struct Measure {
    pub(super) heading: &'static str,
    pub(super) of: fn(&Figures) -> f64,
    pub(super) write: fn(f64) -> String,
}

pub(super) fn three(comparison: &Comparison) -> [(&'static str, Figures); 3] {
    [
        ("recorded", comparison.recorded),
        ("replayed as CapacityScheduler", comparison.capacity),
        ("replayed in mode enforce", comparison.enforce),
    ]
}

/// The last column of a [`Table`] is text, so an empty one keeps the numbers to the right.
pub(super) fn figures(comparison: &Comparison) -> Table {
    let [first, second, third, fourth] = MEASURES.map(|measure| measure.heading);
    let mut table = Table::new(1, &["", first, second, third, fourth, ""]);
    for (name, figures) in three(comparison) {
        let cells = MEASURES.map(|measure| (measure.write)((measure.of)(&figures)));
        let cells = std::iter::once(name.to_owned()).chain(cells).chain([String::new()]);
        table.row(cells.collect());
    }
    table
}

const GAIN_HEADINGS: [&str; 10] = [
    "containers",
    "earlier",
    "by, s",
    "recorded, s",
    "CapacityScheduler, s",
    "enforce, s",
    "change",
    "CapacityScheduler, node-hours",
    "enforce, node-hours",
    "",
];

fn gain_cells(gain: &Gain) -> [String; 10] {
    [
        gain.containers.to_string(),
        gain.containers_earlier.to_string(),
        seconds(gain.mean_earlier_s),
        seconds(gain.recorded_completion_s),
        seconds(gain.capacity_completion_s),
        seconds(gain.enforce_completion_s),
        change(gain.capacity_completion_s, gain.enforce_completion_s),
        gain.capacity_node_hours.map(hours).unwrap_or_default(),
        gain.enforce_node_hours.map(hours).unwrap_or_default(),
        String::new(),
    ]
}

pub(super) fn queues(comparison: &Comparison) -> Table {
    let headings = [&["queue", "applications"][..], &GAIN_HEADINGS].concat();
    let mut table = Table::new(1, &headings);
    for one in &comparison.advice.queues {
        let mut cells = vec![shortened(&one.queue), one.applications.to_string()];
        cells.extend(gain_cells(&one.gain));
        table.row(cells);
    }
    table
}

pub(super) fn applications(comparison: &Comparison, top: usize) -> Table {
    let headings = [&["application", "name", "user", "queue"][..], &GAIN_HEADINGS].concat();
    let mut table = Table::new(4, &headings);
    for one in comparison.advice.by_application.iter().take(top) {
        let mut cells =
            [&one.id, &one.name, &one.user, &one.queue].map(|it| shortened(it)).to_vec();
        cells.extend(gain_cells(&one.gain));
        table.row(cells);
    }
    table
}

/// What is not in the table of applications.
pub(super) fn left_out(comparison: &Comparison, top: usize) -> Option<String> {
    let advice = comparison.advice;
    let hidden = advice.by_application.len().saturating_sub(top);
    let more = count(hidden + advice.more_applications, "more application");
    match (hidden, advice.more_applications) {
        (0, 0) => None,
        (0, _) => Some(format!("… and {more} that the ResourceManager does not list")),
        _ => Some(format!("… and {more} (--all)")),
    }
}
