//! The rows of a report, and what makes them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use elastane_runs::{GB, HOUR_S, LedgerEntry, LedgerSums};
use serde::Serialize;

use super::By;

/// What would do is the most that was used and this part of it, in whole steps, as YARN gives memory out.
const MARGIN: f64 = 0.2;
const STEP_BYTES: u64 = 256 << 20;

/// A smaller part of the request is not worth a change.
const WORTH: f64 = 0.1;

pub(super) struct Rows {
    /// The largest waste first.
    pub(super) rows: Vec<Row>,
    pub(super) total: Amounts,
    pub(super) less: Less,
}

/// All runs of an application, a user or a queue; or one run.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) subject: Subject,
    #[serde(flatten)]
    pub(super) amounts: Amounts,
    #[serde(flatten)]
    pub(super) executors: Executors,
    #[serde(flatten)]
    pub(super) less: Less,
}

#[derive(Debug, Serialize)]
pub(super) struct Subject {
    /// The application's key, the user, the queue, or YARN's application id.
    pub(super) of: String,
    /// The latest name of an application; of a run its name; else empty.
    pub(super) name: String,
}

/// The memory of single executors.
#[derive(Debug, Default, Serialize)]
pub(super) struct Executors {
    pub(super) largest_request_bytes: u64,
    pub(super) largest_use_bytes: u64,
    /// What an executor could ask for instead; none where that is not worth a change, or for users and queues.
    pub(super) could_ask_bytes: Option<u64>,
}

/// What would be booked less if each application asked for what would do; of the time that agents measured.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Less {
    /// How many could ask for less.
    #[serde(rename = "could_ask_applications")]
    pub(super) applications: usize,
    #[serde(rename = "could_save_gb_hours")]
    pub(super) gb_hours: f64,
    #[serde(rename = "could_save_cost")]
    pub(super) cost: f64,
    /// Their names, that of the largest saving first.
    #[serde(skip)]
    pub(super) names: Vec<String>,
}

/// Sums in core-hours and GB-hours; a GB is 1,024 MB. The waste of a run is what it booked less what it used in the
/// time that agents measured, and never below 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Amounts {
    pub(super) runs: usize,
    pub(super) containers: u64,
    pub(super) booked_core_hours: f64,
    /// What of it is of the time that agents measured.
    pub(super) measured_core_hours: f64,
    pub(super) used_core_hours: f64,
    pub(super) wasted_core_hours: f64,
    pub(super) booked_gb_hours: f64,
    /// What of it is of the time that agents measured.
    pub(super) measured_gb_hours: f64,
    pub(super) used_gb_hours: f64,
    pub(super) wasted_gb_hours: f64,
    pub(super) cost: f64,
    /// What is not measured is no waste.
    pub(super) wasted_cost: f64,
}

impl Amounts {
    /// Of a run, which is not counted.
    fn of(sums: &LedgerSums) -> Self {
        let wasted_core_s = (sums.measured_vcore_s - sums.used_core_s).max(0.0);
        let wasted_byte_s = (sums.measured_byte_s - sums.used_byte_s).max(0.0);
        Self {
            runs: 0,
            containers: sums.containers,
            booked_core_hours: core_hours(sums.booked_vcore_s),
            measured_core_hours: core_hours(sums.measured_vcore_s),
            used_core_hours: core_hours(sums.used_core_s),
            wasted_core_hours: core_hours(wasted_core_s),
            booked_gb_hours: gb_hours(sums.booked_byte_s),
            measured_gb_hours: gb_hours(sums.measured_byte_s),
            used_gb_hours: gb_hours(sums.used_byte_s),
            wasted_gb_hours: gb_hours(wasted_byte_s),
            cost: sums.core_cost + sums.memory_cost,
            wasted_cost: sums.core_cost * part(wasted_core_s, sums.booked_vcore_s)
                + sums.memory_cost * part(wasted_byte_s, sums.booked_byte_s),
        }
    }

    /// The part of the measured cores that was wasted, 0 to 1.
    pub(super) fn wasted_cores(&self) -> f64 {
        part(self.wasted_core_hours, self.measured_core_hours)
    }

    /// The part of the measured memory that was wasted, 0 to 1.
    pub(super) fn wasted_memory(&self) -> f64 {
        part(self.wasted_gb_hours, self.measured_gb_hours)
    }

    /// The part of the booked memory whose use was measured, 0 to 1.
    pub(super) fn measured_memory(&self) -> f64 {
        part(self.measured_gb_hours, self.booked_gb_hours)
    }
}

/// At most 1: samples of the moments between two counts may be more than all.
fn part(of: f64, all: f64) -> f64 {
    ratio(of, all).min(1.0)
}

/// 0 of nothing.
pub(super) fn ratio(of: f64, all: f64) -> f64 {
    if all > 0.0 { of / all } else { 0.0 }
}

fn core_hours(vcore_s: f64) -> f64 {
    vcore_s / HOUR_S
}

fn gb_hours(byte_s: f64) -> f64 {
    byte_s / GB / HOUR_S
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, other: Self) {
        self.runs += other.runs;
        self.containers += other.containers;
        self.booked_core_hours += other.booked_core_hours;
        self.measured_core_hours += other.measured_core_hours;
        self.used_core_hours += other.used_core_hours;
        self.wasted_core_hours += other.wasted_core_hours;
        self.booked_gb_hours += other.booked_gb_hours;
        self.used_gb_hours += other.used_gb_hours;
        self.wasted_gb_hours += other.wasted_gb_hours;
        self.measured_gb_hours += other.measured_gb_hours;
        self.cost += other.cost;
        self.wasted_cost += other.wasted_cost;
    }
}

impl Rows {
    pub(super) fn of(entries: impl IntoIterator<Item = LedgerEntry>, by: By) -> Self {
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        let mut total = Group::default();
        for entry in entries {
            let subject = &entry.subject;
            let of = match by {
                By::Application => &subject.application_key,
                By::User => &subject.user,
                By::Queue => &subject.queue,
                By::Run => &subject.application_id,
            };
            groups.entry(of.clone()).or_default().add(&entry);
            total.add(&entry);
        }
        let mut rows: Vec<Row> =
            groups.into_iter().map(|(of, group)| group.into_row(of, by)).collect();
        let waste = |row: &Row| (row.amounts.wasted_cost, row.amounts.wasted_gb_hours);
        rows.sort_by(|one, other| {
            waste(other).partial_cmp(&waste(one)).unwrap_or(std::cmp::Ordering::Equal)
        });
        Self { rows, total: total.amounts(), less: total.less() }
    }

    /// Whether anything costs something.
    pub(super) fn has_prices(&self) -> bool {
        self.total.cost > 0.0
    }

    /// The first ones, and how many are left out; 0 for all.
    pub(super) fn top(&self, most: usize) -> (&[Row], usize) {
        let shown = if most == 0 { self.rows.len() } else { most.min(self.rows.len()) };
        (&self.rows[..shown], self.rows.len() - shown)
    }
}

/// The entries that make a row.
#[derive(Default)]
struct Group {
    runs: BTreeSet<String>,
    amounts: Amounts,
    executors: Executors,
    /// By key: requests are an application's.
    applications: BTreeMap<String, Application>,
    /// The latest hour, and the name then.
    latest: (i64, String),
}

#[derive(Default)]
struct Application {
    latest: (i64, String),
    executors: Executors,
    booked_byte_s: f64,
    measured_byte_s: f64,
    wasted_gb_hours: f64,
    memory_cost: f64,
}

impl Application {
    fn add(&mut self, entry: &LedgerEntry) {
        let sums = &entry.sums;
        keep_latest(&mut self.latest, entry);
        self.executors.add(sums);
        self.booked_byte_s += sums.booked_byte_s;
        self.measured_byte_s += sums.measured_byte_s;
        self.wasted_gb_hours += Amounts::of(sums).wasted_gb_hours;
        self.memory_cost += sums.memory_cost;
    }

    /// In GB-hours and money, and at most what was wasted: its master and smaller executors stay as they are.
    fn could_save(&self) -> Option<(f64, f64)> {
        let enough = self.executors.could_ask()? as f64;
        let part = 1.0 - ratio(enough, self.executors.largest_request_bytes as f64);
        let gb_hours = (self::gb_hours(self.measured_byte_s) * part).min(self.wasted_gb_hours);
        let price = ratio(self.memory_cost, self::gb_hours(self.booked_byte_s));
        Some((gb_hours, gb_hours * price))
    }
}

impl Group {
    fn add(&mut self, entry: &LedgerEntry) {
        if !self.runs.contains(&entry.subject.application_id) {
            self.runs.insert(entry.subject.application_id.clone());
        }
        self.amounts += Amounts::of(&entry.sums);
        self.executors.add(&entry.sums);
        self.applications.entry(entry.subject.application_key.clone()).or_default().add(entry);
        keep_latest(&mut self.latest, entry);
    }

    fn amounts(&self) -> Amounts {
        Amounts { runs: self.runs.len(), ..self.amounts }
    }

    fn less(&self) -> Less {
        let mut could: Vec<(f64, f64, &String)> = self
            .applications
            .values()
            .filter_map(|it| it.could_save().map(|(gb_hours, cost)| (gb_hours, cost, &it.latest.1)))
            .collect();
        could.sort_by(|one, other| other.0.total_cmp(&one.0));
        Less {
            applications: could.len(),
            gb_hours: could.iter().map(|it| it.0).sum(),
            cost: could.iter().map(|it| it.1).sum(),
            names: could.into_iter().map(|it| it.2.clone()).collect(),
        }
    }

    fn into_row(self, of: String, by: By) -> Row {
        let amounts = self.amounts();
        let less = self.less();
        let (name, could_ask_bytes) = match by {
            By::Application | By::Run => (self.latest.1, self.executors.could_ask()),
            // Their applications differ.
            By::User | By::Queue => (String::new(), None),
        };
        let executors = Executors { could_ask_bytes, ..self.executors };
        Row { subject: Subject { of, name }, amounts, executors, less }
    }
}

/// The name of an application may change from run to run.
fn keep_latest(latest: &mut (i64, String), entry: &LedgerEntry) {
    if latest.1.is_empty() || entry.hour_ms >= latest.0 {
        *latest = (entry.hour_ms, entry.subject.application_name.clone());
    }
}

impl Executors {
    fn add(&mut self, sums: &LedgerSums) {
        self.largest_request_bytes = self.largest_request_bytes.max(sums.largest_request_bytes);
        self.largest_use_bytes = self.largest_use_bytes.max(sums.largest_use_bytes);
    }

    fn could_ask(&self) -> Option<u64> {
        if self.largest_use_bytes == 0 {
            return None;
        }
        let with_margin = self.largest_use_bytes as f64 * (1.0 + MARGIN);
        let steps = (with_margin / STEP_BYTES as f64).ceil() as u64;
        let enough = steps * STEP_BYTES;
        let is_worth = (enough as f64) < self.largest_request_bytes as f64 * (1.0 - WORTH);
        is_worth.then_some(enough)
    }
}

#[cfg(test)]
mod tests;
