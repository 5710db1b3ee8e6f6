//! A self-contained HTML page with plots.

use std::collections::BTreeMap;
use std::fmt::Write;

use elastane_core::{Resource, Resources};

use super::svg::{Axes, bands, colour, escape, lines};
use super::table::write_table;
use crate::experiment::Comparison;
use crate::simulator::{Packing, SimulatedRun};
use crate::workload::Workload;

const STYLE: &str = "body{font:14px system-ui,sans-serif;margin:24px auto;max-width:1180px;\
color:#222}.charts{display:grid;grid-template-columns:1fr 1fr;gap:8px 24px}figure{margin:0}\
figcaption{font-weight:600}svg{width:100%;font-size:11px;fill:#444}h2{margin-top:32px}\
.key span{display:inline-block;margin-right:16px}.key i{display:inline-block;width:12px;\
height:12px;margin-right:5px;vertical-align:-1px}";

/// The length of the start of the run that the packing of a node shows.
const PACKING_SHOWN_S: f64 = 3_600.0;
const PACKING_STEP_S: f64 = 15.0;

/// The page. Plots over time and the packing are those of the first seed; `workload` is that
/// seed's.
pub fn to_html(comparison: &Comparison, workload: &Workload) -> String {
    let mut page = String::new();
    let title = format!("{}, simulated", escape(&comparison.workload));
    // Writing to a String does not fail.
    let _ = write!(
        page,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1><p>{} machines, {} applications, {} \
         executors; {} from {} on. Plots are of the first seed.</p>{}",
        workload.machines.len(),
        workload.applications.len(),
        workload.executors(),
        match comparison.seeds.len() {
            1 => "seed".to_owned(),
            seeds => format!("means over {seeds} seeds"),
        },
        comparison.seeds.first().copied().unwrap_or(0),
        table(comparison),
    );
    let _ = write!(page, "<h2>Utilization over time</h2>{}<div class=\"charts\">", key(comparison));
    for resource in Resource::ALL {
        if workload.capacity().get(resource) > 0.0 {
            let chart = utilization(comparison, workload.capacity(), resource);
            let _ = write!(page, "{}", figure(resource.name(), &chart));
        }
    }
    let _ = write!(
        page,
        "</div><h2>Completion times</h2>{}<div class=\"charts\">{}</div>",
        key(comparison),
        figure("part of the applications that took no longer", &completions(comparison)),
    );
    for policy in &comparison.policies {
        if let Some(outcome) = policy.outcomes.first() {
            page.push_str(&packing(outcome, workload));
        }
    }
    page.push_str("</body></html>\n");
    page
}

/// The table that the command prints.
fn table(comparison: &Comparison) -> String {
    let mut table = Vec::new();
    // Writing to a Vec does not fail.
    let _ = write_table(&mut table, comparison);
    format!("<pre>{}</pre>", escape(&String::from_utf8_lossy(&table)))
}

fn key(comparison: &Comparison) -> String {
    let names = comparison.policies.iter().enumerate();
    let entries = names.map(|(number, policy)| entry(number, &policy.policy));
    format!("<p class=\"key\">{}</p>", entries.collect::<String>())
}

fn entry(number: usize, name: &str) -> String {
    format!("<span><i style=\"background:{}\"></i>{}</span>", colour(number), escape(name))
}

fn figure(caption: &str, chart: &str) -> String {
    format!("<figure><figcaption>{caption}</figcaption>{chart}</figure>")
}

/// A chart of each policy's first run, over hours.
fn over_hours(
    comparison: &Comparison,
    x: &str,
    (y, y_most): (&str, f64),
    line: impl Fn(&SimulatedRun) -> Vec<(f64, f64)>,
) -> String {
    let outcomes = comparison.policies.iter().filter_map(|policy| policy.outcomes.first());
    let drawn: Vec<_> = outcomes.map(line).collect();
    let ends = drawn.iter().filter_map(|line| line.last());
    let x_most = ends.map(|(x, _)| *x).fold(0.0, f64::max);
    lines(Axes { x, y, x_most, y_most }, &drawn)
}

fn utilization(comparison: &Comparison, capacity: Resources, resource: Resource) -> String {
    over_hours(comparison, "hours", ("% of all machines", 100.0), |outcome| {
        let step_h = outcome.timeline.step_ms / 3.6e6;
        let means = outcome.timeline.means().enumerate();
        means
            .map(|(step, mean)| {
                let used = 100.0 * mean.get(resource) / capacity.get(resource);
                ((step as f64 + 0.5) * step_h, used)
            })
            .collect()
    })
}

fn completions(comparison: &Comparison) -> String {
    over_hours(comparison, "hours from submission to end", ("part", 1.0), |outcome| {
        let completions = outcome.completions_s();
        let count = completions.len() as f64;
        let steps = completions.iter().enumerate().flat_map(|(number, taken_s)| {
            let taken_h = taken_s / 3_600.0;
            [number, number + 1].map(|done| (taken_h, done as f64 / count))
        });
        steps.collect()
    })
}

fn packing(outcome: &SimulatedRun, workload: &Workload) -> String {
    if outcome.packing.pieces.is_empty() {
        return String::new();
    }
    let shown_s = PACKING_SHOWN_S.min(outcome.makespan_s);
    let on_node = by_application(&outcome.packing, shown_s);
    let mut section = format!(
        "<h2>One node under {}, the first {:.0} minutes</h2><p class=\"key\">",
        escape(outcome.policy),
        shown_s / 60.0
    );
    for (number, application) in on_node.keys().enumerate() {
        section.push_str(&entry(number, &workload.applications[*application].name));
    }
    section.push_str("</p><div class=\"charts\">");
    for resource in Resource::ALL {
        let (unit, name) = unit(resource);
        let capacity = outcome.packing.capacity.get(resource) / unit;
        if capacity == 0.0 {
            continue;
        }
        let stacked: Vec<(usize, Vec<f64>)> = on_node
            .values()
            .enumerate()
            .map(|(number, steps)| {
                let used = steps.iter().map(|used| used.get(resource) / unit);
                (number, used.collect())
            })
            .collect();
        let axes = Axes { x: "minutes", y: name, x_most: shown_s / 60.0, y_most: 1.05 * capacity };
        let chart = bands(axes, PACKING_STEP_S / 60.0, &stacked, capacity);
        section.push_str(&figure(resource.name(), &chart));
    }
    section.push_str("</div>");
    section
}

/// The usage of each application on the node in each step.
fn by_application(packing: &Packing, shown_s: f64) -> BTreeMap<usize, Vec<Resources>> {
    let step_ms = PACKING_STEP_S * 1e3;
    let steps = (shown_s / PACKING_STEP_S).ceil() as usize;
    let mut used: BTreeMap<usize, Vec<Resources>> = BTreeMap::new();
    for piece in &packing.pieces {
        if piece.from_ms >= shown_s * 1e3 {
            continue;
        }
        let of_application =
            used.entry(piece.application).or_insert_with(|| vec![Resources::ZERO; steps]);
        let from = (piece.from_ms / step_ms) as usize;
        let to = ((piece.to_ms / step_ms).ceil() as usize).min(steps);
        for (step, used) in of_application.iter_mut().enumerate().take(to).skip(from) {
            let begins_ms = (step as f64 * step_ms).max(piece.from_ms);
            let ends_ms = ((step + 1) as f64 * step_ms).min(piece.to_ms);
            *used += piece.usage * ((ends_ms - begins_ms).max(0.0) / step_ms);
        }
    }
    used
}

fn unit(resource: Resource) -> (f64, &'static str) {
    match resource {
        Resource::Cpu => (1.0, "cores"),
        Resource::Memory => (1e9, "GB"),
        Resource::Network | Resource::Disk => (1e6, "MB/s"),
    }
}
