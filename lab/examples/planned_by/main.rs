//! Compares three demands to place an application by after three runs: the mean of the runs slot by slot of
//! the clock, their mean at the same progress, and the envelope. `docs/decisions/0012` has the results.
//!
//! `cargo run --release -p elastane-lab --example planned_by -- [SEEDS]`

mod learned;

use std::error::Error;

use elastane_core::{Demand, Resources};
use elastane_lab::evaluation::Envelope;
use elastane_lab::workload::generate;
use elastane_predict::{PastRun, RecurringSettings, predict_next};
use elastane_sim::experiment::{Experiment, SeedRun};
use elastane_sim::simulator::{Policies, Settings};
use learned::{Predict, RunErrors, learned};

const WORKLOADS: [&str; 2] = ["elasecutor", "ursa-mix"];
const RUNS: usize = 3;
const ERRORS: [RunErrors; 2] =
    [RunErrors { length: 0.1, level: 0.05 }, RunErrors { length: 0.25, level: 0.15 }];

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = std::env::args().nth(1).as_deref().unwrap_or("2").parse()?;
    let ways: [(&str, Predict<'_>); 3] =
        [("by the clock", &by_the_clock), ("by progress", &by_progress), ("envelope", &envelope)];
    for workload in WORKLOADS {
        for errors in ERRORS {
            let RunErrors { length, level } = errors;
            println!("{workload}, runs differ by {length} in length and {level} in level");
            for (name, predict) in ways {
                let runs: Result<Vec<SeedRun>, Box<dyn Error>> = (1..=seeds)
                    .map(|seed| {
                        let workload = generate(workload, seed)?;
                        let workload = learned(workload, seed, RUNS, errors, predict)?;
                        Ok(SeedRun { seed, workload })
                    })
                    .collect();
                let experiment = Experiment {
                    runs: runs?,
                    known_policies: Policies::default(),
                    policies: vec!["elastane".into()],
                    settings: Settings::default(),
                    threads: 2,
                };
                let comparison = experiment.run(&|_, _| {})?;
                let outcomes = &comparison.policies[0].outcomes;
                let mean = |figures: Vec<f64>| figures.iter().sum::<f64>() / figures.len() as f64;
                let makespan = mean(outcomes.iter().map(|it| it.makespan_s).collect());
                let completion = mean(outcomes.iter().map(|it| it.mean_completion_s()).collect());
                println!("  {name:12} makespan {makespan:.0} s, mean completion {completion:.0} s");
            }
        }
    }
    Ok(())
}

fn by_progress(past: &[PastRun]) -> Option<Demand> {
    let prediction = predict_next(past, &RecurringSettings::default()).prediction;
    Some(prediction.ok()?.demand)
}

fn envelope(past: &[PastRun]) -> Option<Demand> {
    let prediction = predict_next(past, &RecurringSettings::default()).prediction;
    let envelope = Envelope::of(&prediction.ok()?, Envelope::COVERAGE).ok()?;
    Some(envelope.bound.on_grid())
}

fn by_the_clock(past: &[PastRun]) -> Option<Demand> {
    let runs: Vec<&[Resources]> = past.iter().map(|run| run.used.slots()).collect();
    let longest = runs.iter().map(|slots| slots.len()).max()?;
    let slots: Vec<Resources> = (0..longest)
        .map(|at| {
            let values: Vec<Resources> = runs.iter().filter_map(|it| it.get(at).copied()).collect();
            let share = 1.0 / values.len() as f64;
            let sum = values.iter().fold(Resources::ZERO, |sum, it| sum + *it);
            let most = values.iter().fold(Resources::ZERO, |most, it| most.max(*it));
            Resources { memory_bytes: most.memory_bytes, ..sum * share }
        })
        .collect();
    Demand::series(past[0].used.slot_ms(), &slots).ok()
}
