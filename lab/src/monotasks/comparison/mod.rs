//! Ursa's tables: simulated figures beside the published ones.

mod published;
mod remarks;
mod table;
mod text;

use std::sync::Mutex;

use elastane_sim::parallel::in_parallel;

use self::published::{Planned, PlannedRow};

pub use self::table::{Figure, Metric, Reproduction, SystemRow, Table, Utilization};
use super::bound::lower_bound_s;
use super::parameters::Parameters;
use super::run::{Outcome, Stuck, simulate};

/// Runs every table on every seed. `progress` gets the number of finished runs and of all runs, from
/// any thread. The result does not depend on the number of threads.
pub fn reproduce(
    parameters: &Parameters,
    seeds: &[u64],
    threads: usize,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Reproduction, Stuck> {
    let plans = published::tables();
    let runs: u64 = plans.iter().map(|plan| plan.rows.len() as u64).sum();
    let all = runs * seeds.len() as u64;
    let done = Mutex::new(0);
    let one_more = || {
        if let Ok(mut done) = done.lock() {
            *done += 1;
            progress(*done, all);
        }
    };
    let mut seeded = in_parallel(plans.len() * seeds.len(), threads, |at| {
        let (plan, seed) = (&plans[at / seeds.len()], seeds[at % seeds.len()]);
        one_seed(plan, seed, parameters, &one_more)
    })?
    .into_iter();
    let tables = plans.iter().map(|plan| {
        let seeded: Vec<Seeded> = seeded.by_ref().take(seeds.len()).collect();
        table(plan, &seeded)
    });
    Ok(Reproduction {
        paper: "Ursa (EuroSys 2020)",
        seeds: seeds.to_vec(),
        tables: tables.collect(),
    })
}

/// The outcomes of a table on one seed.
struct Seeded {
    lower_bound_s: f64,
    outcomes: Vec<Outcome>,
}

fn one_seed(
    plan: &Planned,
    seed: u64,
    parameters: &Parameters,
    one_more: &(dyn Fn() + Sync),
) -> Result<Seeded, Stuck> {
    let jobs = plan.jobs.draw(seed);
    let outcomes = plan.rows.iter().map(|row| {
        let outcome = simulate(&jobs, &row.system, parameters, |_, _| {});
        one_more();
        outcome
    });
    Ok(Seeded {
        lower_bound_s: lower_bound_s(&jobs, parameters),
        outcomes: outcomes.collect::<Result<_, _>>()?,
    })
}

fn table(plan: &Planned, seeded: &[Seeded]) -> Table {
    let mut systems: Vec<SystemRow> =
        plan.rows.iter().enumerate().map(|(at, row)| system(plan, at, row, seeded)).collect();
    remarks::add(plan.name, &mut systems);
    Table {
        name: plan.name,
        title: plan.title,
        workload: plan.jobs.name(),
        lower_bound_s: seeded.iter().map(|seeded| seeded.lower_bound_s).collect(),
        systems,
    }
}

fn system(plan: &Planned, at: usize, row: &PlannedRow, seeded: &[Seeded]) -> SystemRow {
    let each = |value: &dyn Fn(&Outcome) -> f64| -> Vec<f64> {
        seeded.iter().map(|seeded| value(&seeded.outcomes[at])).collect()
    };
    let figures = plan
        .metrics
        .iter()
        .enumerate()
        .map(|(column, metric)| Figure {
            metric: *metric,
            published: row.published.get(column).copied(),
            ours: seeded
                .iter()
                .filter_map(|seeded| {
                    let base = row.base.and_then(|base| seeded.outcomes.get(base));
                    metric.of(&seeded.outcomes[at], base)
                })
                .collect(),
        })
        .collect();
    SystemRow {
        name: row.name,
        makespan_s: each(&|outcome| outcome.makespan_s),
        mean_completion_s: each(&Outcome::mean_completion_s),
        utilization: Utilization {
            cpu: each(&|outcome| outcome.cpu_allocated * outcome.cpu_used),
            memory: each(&|outcome| outcome.memory_allocated * outcome.memory_used),
        },
        figures,
        remarks: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A table whose outcomes are the published ones, with times multiplied by `times`.
    fn as_published(name: &str, times: f64) -> Table {
        let plan = published::tables().into_iter().find(|plan| plan.name == name).unwrap();
        let outcomes = plan.rows.iter().map(|row| Outcome {
            makespan_s: row.published[0] * times,
            completion_s: vec![row.published[1] * times],
            cpu_allocated: row.published.get(3).map_or(0.5, |percent| percent / 100.0),
            cpu_used: row.published.get(2).map_or(0.5, |percent| percent / 100.0),
            memory_allocated: 0.5,
            memory_used: 0.5,
        });
        let seeded = Seeded { lower_bound_s: 400.0, outcomes: outcomes.collect() };
        table(&plan, &[seeded])
    }

    #[test]
    fn published_figures_get_no_remark() {
        let table = as_published("table-4", 1.0);
        assert!(table.systems.iter().all(|system| system.remarks.is_empty()));
    }

    #[test]
    fn times_half_as_long_again_get_a_remark_with_a_reason() {
        let table = as_published("table-4", 1.5);
        let remarks = &table.systems[2].remarks;
        assert!(
            remarks[0].starts_with("makespan_s differs by more than a third: published 842.92")
        );
        assert!(remarks.last().unwrap().starts_with("why: "));
    }

    #[test]
    fn json_has_the_policies_by_name_and_the_bound() {
        let json = serde_json::to_value(as_published("table-4", 1.0)).unwrap();
        assert_eq!(json["lower_bound_s"], json!([400.0]));
        let spark = &json["policies"]["YARN+Spark"];
        assert_eq!(spark["makespan_s"], json!([1072.66]));
        assert_eq!(spark["mean_completion_s"], json!([435.0]));
        assert_eq!(spark["utilization"]["memory"], json!([0.25]));
        let figure = json!({"metric": "makespan_s", "published": 1072.66, "ours": [1072.66]});
        assert_eq!(spark["figures"][0], figure);
    }

    #[test]
    fn text_has_the_published_figure_beside_ours() {
        let text = as_published("table-4", 1.1).to_string();
        assert!(text.contains("Capacity       511.0 | 562.1 [562.1, 562.1]"), "{text}");
    }
}
