//! A report as text.

use std::collections::HashMap;
use std::io::Write;

use elastane_runs::GB;

use super::By;
use super::rows::{Amounts, Row, Rows, Subject, ratio};
use super::savings::{CouldAskLess, CouldSave, Saved};
use crate::failure::Failure;
use crate::table::Table;
use crate::units::{count, hours, shortened};

/// The most users, queues or applications that a line names.
const MOST_NAMES: usize = 3;

pub(super) fn print(
    rows: &Rows,
    notes: &[String],
    by: By,
    top: usize,
    period: &str,
    output: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(output, "{period}")?;
    writeln!(output, "{}\n", summary(&rows.total))?;
    let (shown, left_out) = rows.top(top);
    let labels = Labels::of(rows, by);
    let mut table = Table::new(1, &headings(rows, by));
    for row in shown {
        let mut cells = vec![labels.label(row)];
        cells.extend(numbers(row, rows));
        cells.push(could_ask(row, by));
        table.row(cells);
    }
    if !shown.is_empty() {
        table.print(output)?;
    }
    if left_out > 0 {
        writeln!(output, "… and {} more (--top 0)", count(left_out, by.name()))?;
    }
    for note in notes {
        writeln!(output, "\n{note}")?;
    }
    Ok(())
}

pub(super) fn headings(rows: &Rows, by: By) -> Vec<&'static str> {
    let mut headings = vec![by.name(), "runs"];
    headings.extend(["core-h booked", "used", "wasted", "GB-h booked", "used", "wasted"]);
    if rows.has_prices() {
        headings.extend(["cost", "wasted"]);
    }
    headings.push("GB-h to save");
    if rows.has_prices() {
        headings.push("cost to save");
    }
    headings.push(match by {
        By::Application | By::Run => "an executor could ask for",
        By::User | By::Queue => "could ask for less",
    });
    headings
}

/// The cells below the headings between the first and the last.
pub(super) fn numbers(row: &Row, rows: &Rows) -> Vec<String> {
    let amounts = &row.amounts;
    let mut cells = vec![
        amounts.runs.to_string(),
        hours(amounts.booked_core_hours),
        hours(amounts.used_core_hours),
        hours(amounts.wasted_core_hours),
        hours(amounts.booked_gb_hours),
        hours(amounts.used_gb_hours),
        hours(amounts.wasted_gb_hours),
    ];
    if rows.has_prices() {
        cells.extend([money(amounts.cost), money(amounts.wasted_cost)]);
    }
    let less = &row.less;
    let could = |words: String| if less.applications > 0 { words } else { String::new() };
    cells.push(could(hours(less.gb_hours)));
    if rows.has_prices() {
        cells.push(could(money(less.cost)));
    }
    cells
}

/// What rows are called: applications by their name, where no other one has it.
pub(super) struct Labels {
    by: By,
    names: HashMap<String, usize>,
}

impl Labels {
    pub(super) fn of(rows: &Rows, by: By) -> Self {
        let mut names = HashMap::new();
        for row in &rows.rows {
            *names.entry(shortened(&row.subject.name)).or_default() += 1;
        }
        Self { by, names }
    }

    pub(super) fn label(&self, row: &Row) -> String {
        let Subject { of, name } = &row.subject;
        let name = shortened(name);
        let is_clear = !name.is_empty() && self.names.get(&name) == Some(&1);
        match self.by {
            By::Application if is_clear => name,
            By::Run if !name.is_empty() => format!("{of} {name}"),
            _ => shortened(of),
        }
    }
}

/// `1.25 of 4.00 GB`, or of a user and queue its applications; empty where there is nothing to change.
pub(super) fn could_ask(row: &Row, by: By) -> String {
    let gb = |bytes: u64| bytes as f64 / GB;
    match by {
        By::Application | By::Run => {
            row.executors.could_ask_bytes.map_or(String::new(), |enough| {
                format!("{:.2} of {:.2} GB", gb(enough), gb(row.executors.largest_request_bytes))
            })
        }
        By::User | By::Queue => named(row.less.names.iter().map(|it| shortened(it))),
    }
}

/// The first few.
fn named(all: impl ExactSizeIterator<Item = String>) -> String {
    let others = all.len().saturating_sub(MOST_NAMES);
    let first = all.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    if others == 0 { first } else { format!("{first} and {others} more") }
}

fn money(cost: f64) -> String {
    format!("{cost:.2}")
}

pub(super) fn summary(total: &Amounts) -> String {
    if total.runs == 0 {
        return "No application ran.".to_owned();
    }
    let cost = if total.cost > 0.0 {
        format!("; it cost {}, of which {} is waste", money(total.cost), money(total.wasted_cost))
    } else {
        String::new()
    };
    format!(
        "{} with {} booked {} core-hours and {} GB-hours. {:.0} % of the cores and {:.0} % of the memory were \
         wasted, as far as agents measured them ({:.0} % of the memory booked){cost}.",
        count(total.runs, "run"),
        count(total.containers as usize, "container"),
        hours(total.booked_core_hours),
        hours(total.booked_gb_hours),
        100.0 * total.wasted_cores(),
        100.0 * total.wasted_memory(),
        100.0 * total.measured_memory(),
    )
}

/// What stands beside the table: who could ask for less, and what was saved.
pub(super) fn notes(rows: &Rows, could: &CouldAskLess, saved: Option<&Saved>) -> Vec<String> {
    let less = (rows.less.applications > 0).then(|| who_could_ask_less(rows, could));
    less.into_iter().chain(saved.map(in_words)).collect()
}

fn who_could_ask_less(rows: &Rows, could: &CouldAskLess) -> String {
    let amounts = |gb_hours, cost| {
        let cost =
            if rows.has_prices() { format!(", cost {}", money(cost)) } else { String::new() };
        format!("{} GB-hours{cost}", hours(gb_hours))
    };
    let who = |all: &[CouldSave]| {
        named(all.iter().map(|it| {
            format!("{} ({})", shortened(&it.of), amounts(it.less.gb_hours, it.less.cost))
        }))
    };
    format!(
        "{} could ask for less memory and save {}. Users: {}. Queues: {}.",
        count(rows.less.applications, "application"),
        amounts(rows.less.gb_hours, rows.less.cost),
        who(&could.users),
        who(&could.queues),
    )
}

fn in_words(saved: &Saved) -> String {
    let percent = |of, whole| 100.0 * ratio(of, whole);
    let cost = if saved.saved_cost > 0.0 {
        format!(", worth {} at the mean prices of this time", money(saved.saved_cost))
    } else {
        String::new()
    };
    format!(
        "The nodes ({} node-hours) had {:.0} % of their memory booked. {} GB-hours of it, and {} core-hours, were above \
         what nodes registered: as much as {} node-hours more ({:.1} %){cost}.",
        hours(saved.node_hours),
        percent(saved.booked_gb_hours, saved.physical_gb_hours),
        hours(saved.above_gb_hours),
        hours(saved.above_core_hours),
        hours(saved.saved_node_hours),
        percent(saved.saved_node_hours, saved.node_hours),
    )
}
