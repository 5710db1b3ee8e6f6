//! A report as text.

use std::collections::HashMap;
use std::io::Write;

use elastane_runs::GB;

use super::By;
use super::rows::{Amounts, Row, Rows, Saved, Subject, ratio};
use crate::failure::Failure;
use crate::table::Table;
use crate::units::{count, hours, shortened};

pub(super) fn print(
    rows: &Rows,
    saved: Option<&Saved>,
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
        cells.push(could_ask(row));
        table.row(cells);
    }
    if !shown.is_empty() {
        table.print(output)?;
    }
    if left_out > 0 {
        writeln!(output, "… and {} more (--top 0)", count(left_out, by.name()))?;
    }
    if let Some(saved) = saved {
        writeln!(output, "\n{}", in_words(saved))?;
    }
    Ok(())
}

pub(super) fn headings(rows: &Rows, by: By) -> Vec<&'static str> {
    let mut headings = vec![by.name(), "runs"];
    headings.extend(["core-h booked", "used", "wasted", "GB-h booked", "used", "wasted"]);
    if rows.has_prices() {
        headings.extend(["cost", "wasted"]);
    }
    headings.push(match by {
        By::Application | By::Run => "an executor could ask for",
        By::User | By::Queue => "",
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

/// `1.25 of 4.00 GB`; empty where there is nothing to change.
pub(super) fn could_ask(row: &Row) -> String {
    let gb = |bytes: u64| bytes as f64 / GB;
    row.executors.could_ask_bytes.map_or(String::new(), |enough| {
        format!("{:.2} of {:.2} GB", gb(enough), gb(row.executors.largest_request_bytes))
    })
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

pub(super) fn in_words(saved: &Saved) -> String {
    let percent = |of, whole| 100.0 * ratio(of, whole);
    format!(
        "The nodes ({} node-hours) had {:.0} % of their memory booked. {} GB-hours of it, and {} core-hours, were above \
         what nodes registered: as much as {} node-hours more ({:.1} %).",
        hours(saved.node_hours),
        percent(saved.booked_gb_hours, saved.physical_gb_hours),
        hours(saved.above_gb_hours),
        hours(saved.above_core_hours),
        hours(saved.saved_node_hours),
        percent(saved.saved_node_hours, saved.node_hours),
    )
}
