//! `elastane report`

mod html;
mod rows;
mod savings;
mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use elastane_runs::{HOUR_MS, LedgerEntry, LedgerSubject, NodesHour};
use elastane_store::{Access, Depository};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use crate::failure::{Failure, write};
use crate::units::moment;
use rows::{Less, Rows, Subject};
use savings::{CouldAskLess, MeanPrices, Saved};

/// The fields of a row, in their order.
const CSV_COLUMNS: [&str; 20] = [
    "of",
    "name",
    "runs",
    "containers",
    "booked_core_hours",
    "measured_core_hours",
    "used_core_hours",
    "wasted_core_hours",
    "booked_gb_hours",
    "measured_gb_hours",
    "used_gb_hours",
    "wasted_gb_hours",
    "cost",
    "wasted_cost",
    "largest_request_bytes",
    "largest_use_bytes",
    "could_ask_bytes",
    "could_ask_applications",
    "could_save_gb_hours",
    "could_save_cost",
];

/// The fields of what was saved, in their order.
const SAVED_COLUMNS: [&str; 8] = [
    "from_ms",
    "node_hours",
    "physical_gb_hours",
    "booked_gb_hours",
    "above_gb_hours",
    "above_core_hours",
    "saved_node_hours",
    "saved_cost",
];

/// What applications booked, used and wasted, what it cost, and who could ask for less
#[derive(Args)]
#[command(after_help = "Examples:
  elastane report --depository depository.db
  elastane report --depository depository.db --since 1d --by user
  elastane report --depository depository.db --by run --csv > runs.csv
  elastane report --depository depository.db --csv=saved
  elastane report --depository depository.db --since 30d --html report.html

Costs are those of yarn.scheduler.elastane.price.core-hour and .gb-hour at their time; without prices there are none.")]
pub(crate) struct Report {
    /// The scheduler's depository; given once for each of several ResourceManagers
    #[arg(long, value_name = "FILE", required = true)]
    depository: Vec<PathBuf>,
    /// How far back, such as 12h, 7d or 4w; whole hours
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = since)]
    since: SignedDuration,
    /// What makes a row
    #[arg(long, value_enum, default_value = "application")]
    by: By,
    /// The most rows of the table and the page, those with the largest waste; 0 for all
    #[arg(long, value_name = "ROWS", default_value_t = 20)]
    top: usize,
    /// Print all rows as JSON
    #[arg(long, group = "form")]
    json: bool,
    /// Print all rows as CSV, or with =saved what was booked above the nodes' sizes
    #[arg(
        long,
        group = "form",
        value_name = "WHAT",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "rows"
    )]
    csv: Option<Csv>,
    /// Write a page into this file
    #[arg(long, value_name = "FILE", group = "form")]
    html: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Csv {
    Rows,
    Saved,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    /// All runs of one application, by its key
    Application,
    User,
    Queue,
    Run,
}

impl By {
    fn name(self) -> &'static str {
        match self {
            By::Application => "application",
            By::User => "user",
            By::Queue => "queue",
            By::Run => "run",
        }
    }
}

fn since(text: &str) -> Result<SignedDuration, String> {
    let allowed = "allowed is a length of time such as 12h, 7d or 4w";
    let span: jiff::Span = text.parse().map_err(|_| format!("'{text}': {allowed}"))?;
    let days_are_24_hours = jiff::SpanRelativeTo::days_are_24_hours();
    match span.to_duration(days_are_24_hours) {
        Ok(length) if length.is_positive() => Ok(length),
        _ => Err(format!("'{text}': {allowed}")),
    }
}

impl Report {
    pub(crate) fn run(&self, output: &mut impl Write) -> Result<(), Failure> {
        let until_ms = Timestamp::now().as_millisecond();
        let back_ms = i64::try_from(self.since.as_millis()).unwrap_or(i64::MAX);
        let since_ms = until_ms.saturating_sub(back_ms);
        // The ledger has whole hours.
        let since_ms = since_ms - since_ms.rem_euclid(HOUR_MS);
        let (entries, nodes) = self.ledgers(since_ms)?;
        let saved = nodes.map(|nodes| Saved::of(nodes, MeanPrices::of(&entries)));
        let could = CouldAskLess::of(&entries);
        let rows = Rows::of(entries, self.by);
        if self.json {
            let all = json!({
                "since_ms": since_ms,
                "until_ms": until_ms,
                "by": self.by.name(),
                "rows": rows.rows,
                "total": rows.total,
                "could_ask_less": could,
                "nodes": saved,
            });
            return Ok(writeln!(output, "{all}")?);
        }
        match self.csv {
            Some(Csv::Rows) => return csv(&rows, output),
            Some(Csv::Saved) => return saved_csv(saved.as_ref(), output),
            None => {}
        }
        let period = format!("{} to {}", moment(since_ms), moment(until_ms));
        let notes = text::notes(&rows, &could, saved.as_ref());
        match &self.html {
            Some(path) => {
                write(path, &html::page(&rows, &notes, self.by, self.top, &period))?;
                Ok(writeln!(output, "{}: written", path.display())?)
            }
            None => text::print(&rows, &notes, self.by, self.top, &period, output),
        }
    }
}

impl Report {
    /// Each ResourceManager counts while it is the active one: an application may be in several ledgers.
    fn ledgers(&self, since_ms: i64) -> Result<(Vec<LedgerEntry>, Option<NodesHour>), Failure> {
        let mut applications: BTreeMap<Arc<LedgerSubject>, LedgerEntry> = BTreeMap::new();
        let mut nodes: Option<NodesHour> = None;
        for path in &self.depository {
            let depository = Depository::open_existing(path, Access::Read)?;
            for entry in depository.ledger(since_ms)? {
                match applications.get_mut(&entry.subject) {
                    Some(known) => known.sums += entry.sums,
                    None => drop(applications.insert(Arc::clone(&entry.subject), entry)),
                }
            }
            match (&mut nodes, depository.nodes_since(since_ms)?) {
                (Some(sum), Some(more)) => {
                    *sum += more;
                    sum.hour_ms = sum.hour_ms.min(more.hour_ms);
                }
                (nodes, more) => *nodes = more.or(*nodes),
            }
        }
        Ok((applications.into_values().collect(), nodes))
    }
}

fn csv(rows: &Rows, output: &mut impl Write) -> Result<(), Failure> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(output);
    writer.write_record(CSV_COLUMNS).map_err(failed)?;
    for row in &rows.rows {
        let Subject { of, name } = &row.subject;
        let Less { applications, gb_hours, cost, .. } = row.less;
        let less = (applications, gb_hours, cost);
        let columns = (&no_formula(of), &no_formula(name), &row.amounts, &row.executors, less);
        writer.serialize(columns).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

fn saved_csv(saved: Option<&Saved>, output: &mut impl Write) -> Result<(), Failure> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(output);
    writer.write_record(SAVED_COLUMNS).map_err(failed)?;
    if let Some(saved) = saved {
        writer.serialize(saved).map_err(failed)?;
    }
    Ok(writer.flush()?)
}

fn failed(error: csv::Error) -> Failure {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Failure::Output(error),
        other => Failure::Failed(format!("the report is not written: {other:?}")),
    }
}

/// Users choose names, and a spreadsheet takes what begins so for a formula.
fn no_formula(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    format!("{}{text}", if is_formula { "'" } else { "" })
}
