//! A report as text.

use std::io::Write;

use super::By;
use super::rows::{Amounts, Row, Rows, Saved};
use crate::failure::Failure;
use crate::table::Table;
use crate::units::{count, printable};

pub(super) fn print(
    rows: &Rows,
    saved: Option<&Saved>,
    by: By,
    top: usize,
    period: &str,
    output: &mut impl Write,
) -> Result<(), Failure> {
    writeln!(output, "{period}")?;
    if rows.rows.is_empty() {
        return Ok(writeln!(output, "No application ran.")?);
    }
    writeln!(output, "{}\n", summary(&rows.total))?;
    let (shown, left_out) = rows.top(top);
    let has_prices = rows.total.cost > 0.0;
    let mut headings =
        vec![by.name(), "runs", "core-h booked", "used", "wasted", "GB-h booked", "used", "wasted"];
    if has_prices {
        headings.extend(["cost", "wasted"]);
    }
    headings.push(if could_ask_is_shown(by) { "an executor could ask for" } else { "" });
    let mut table = Table::new(1, &headings);
    for row in shown {
        table.row(cells(row, by, has_prices));
    }
    table.print(output)?;
    if left_out > 0 {
        writeln!(output, "… and {} more (--top 0)", count(left_out, by.name()))?;
    }
    if let Some(saved) = saved {
        writeln!(output, "\n{}", in_words(saved))?;
    }
    Ok(())
}

pub(super) fn could_ask_is_shown(by: By) -> bool {
    matches!(by, By::Application | By::Run)
}

fn cells(row: &Row, by: By, has_prices: bool) -> Vec<String> {
    let amounts = &row.amounts;
    let of = match by {
        // The name says more than the key, which is long.
        By::Application => printable(&row.subject.name),
        By::Run => format!("{} {}", row.subject.of, printable(&row.subject.name)),
        By::User | By::Queue => printable(&row.subject.of),
    };
    let mut cells = vec![
        of,
        amounts.runs.to_string(),
        hours(amounts.booked_core_hours),
        hours(amounts.used_core_hours),
        hours(amounts.wasted_core_hours),
        hours(amounts.booked_gb_hours),
        hours(amounts.used_gb_hours),
        hours(amounts.wasted_gb_hours),
    ];
    if has_prices {
        cells.extend([money(amounts.cost), money(amounts.wasted_cost)]);
    }
    cells.push(could_ask(row));
    cells
}

/// `1.25 of 4.00 GB`; empty where there is nothing to change.
pub(super) fn could_ask(row: &Row) -> String {
    let gb = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    row.executors.could_ask_bytes.map_or(String::new(), |enough| {
        format!("{:.2} of {:.2} GB", gb(enough), gb(row.executors.largest_request_bytes))
    })
}

pub(super) fn hours(hours: f64) -> String {
    if hours < 100.0 { format!("{hours:.2}") } else { format!("{hours:.0}") }
}

pub(super) fn money(cost: f64) -> String {
    format!("{cost:.2}")
}

pub(super) fn summary(total: &Amounts) -> String {
    let part = |wasted: f64, used: f64| {
        let measured = wasted + used;
        if measured > 0.0 { 100.0 * wasted / measured } else { 0.0 }
    };
    let cost = if total.cost > 0.0 {
        format!("; it cost {}, of which {} is waste", money(total.cost), money(total.wasted_cost))
    } else {
        String::new()
    };
    format!(
        "{} with {} booked {} core-hours and {} GB-hours. {:.0} % of the cores and {:.0} % of the memory were \
         wasted, as far as agents measured them ({:.0} % of the memory booked){cost}.",
        count(total.runs as usize, "run"),
        count(total.containers as usize, "container"),
        hours(total.booked_core_hours),
        hours(total.booked_gb_hours),
        part(total.wasted_core_hours, total.used_core_hours),
        part(total.wasted_gb_hours, total.used_gb_hours),
        100.0 * total.measured_part(),
    )
}

pub(super) fn in_words(saved: &Saved) -> String {
    let part = |of: f64, whole: f64| if whole > 0.0 { 100.0 * of / whole } else { 0.0 };
    format!(
        "The nodes ({} node-hours) had {:.0} % of their memory booked. {} GB-hours of it, and {} core-hours, were above \
         what nodes registered: as much as {} node-hours more ({:.1} %).",
        hours(saved.node_hours),
        part(saved.booked_gb_hours, saved.physical_gb_hours),
        hours(saved.above_gb_hours),
        hours(saved.above_core_hours),
        hours(saved.saved_node_hours),
        part(saved.saved_node_hours, saved.node_hours),
    )
}
