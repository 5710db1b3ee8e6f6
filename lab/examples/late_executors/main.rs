//! The error of the estimated progress of executors that start late, on generated runs:
//! `cargo run --release -p elastane-lab --example late_executors -- [SEEDS [FIRST]]`

#[path = "../generated_runs/generator.rs"]
#[allow(dead_code, reason = "each example uses its own part")]
mod runs;

use std::error::Error;

use elastane_core::{Demand, Resources, StageEnds};
use elastane_predict::{LateTracker, Outcome, PastRun, RecurringSettings, Tracker, predict_next};
use runs::Application;

const APPLICATIONS: u64 = 8;
const RUNS: usize = 6;
const LEARNED: usize = 3;

/// The progress of the other executors when one starts late, and the error of that figure.
const JOINED: [f64; 3] = [0.25, 0.5, 0.75];
const TOLD_OFF_BY: [f64; 2] = [-0.05, 0.05];

/// The number of slots in which a process starts, also in the middle of the work.
const STARTING: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seeds = arguments.next().map_or(Ok(30), |seeds| seeds.parse())?;
    let first = arguments.next().map_or(Ok(1), |first| first.parse())?;
    let mut taking_over = Missed::default();
    let mut beginning = Missed::default();
    for seed in first..first + seeds {
        for number in 1..=APPLICATIONS {
            let runs = Application::new(seed, number).runs(RUNS)?;
            let Some(demand) = learned(&runs[..LEARNED])? else {
                continue;
            };
            for run in &runs[LEARNED..] {
                for (joined, off) in JOINED.into_iter().zip(TOLD_OFF_BY.into_iter().cycle()) {
                    let told = joined + off;
                    taking_over.add(&demand, told, &from(run, joined))?;
                    beginning.add(&demand, told, &from(run, 0.0))?;
                }
            }
        }
    }
    println!("taking over: {}", taking_over.means());
    println!("beginning anew: {}", beginning.means());
    Ok(())
}

fn learned(runs: &[Demand]) -> Result<Option<Demand>, Box<dyn Error>> {
    let past = runs.iter().zip(0..).map(|(used, ended_ms)| PastRun {
        id: format!("run-{ended_ms}"),
        ended_ms,
        outcome: Outcome::Succeeded,
        used: used.clone(),
        stage_ends: StageEnds::default(),
    });
    let past: Vec<PastRun> = past.collect();
    let outlook = predict_next(&past, &RecurringSettings::default());
    Ok(outlook.prediction.ok().map(|it| it.demand))
}

/// The use of a late executor in each slot, and the progress of the work after the slot. The executor starts as every
/// process does, and then continues at the progress of the others.
fn from(run: &Demand, joined: f64) -> Vec<(Resources, f64)> {
    let slots = run.slots();
    let count = slots.len();
    let joined = (joined * count as f64) as usize;
    let starting = if joined == 0 { 0 } else { STARTING };
    let part = |slot: usize| slot as f64 / count as f64;
    let start = slots.iter().take(starting).map(|it| (*it, part(joined)));
    let rest = (joined..count).map(|slot| (slots[slot], part(slot + 1)));
    start.chain(rest).collect()
}

/// Sums over executors of their mean errors.
#[derive(Default)]
struct Missed {
    executors: f64,
    /// By a tracker of the whole demand.
    whole: f64,
    /// By a tracker that knows the progress of the others.
    late: f64,
}

impl Missed {
    fn add(
        &mut self,
        demand: &Demand,
        told: f64,
        executor: &[(Resources, f64)],
    ) -> Result<(), Box<dyn Error>> {
        let mut whole = Tracker::of_demand(demand);
        let mut late = LateTracker::new(demand, told);
        let slots = executor.len().max(1) as f64;
        for (usage, progress) in executor {
            whole.observe(*usage, demand.slot_ms());
            late.observe(*usage, demand.slot_ms());
            self.whole += (whole.progress() - progress).abs() / slots;
            self.late += (late.progress() - progress).abs() / slots;
        }
        self.executors += 1.0;
        Ok(())
    }

    fn means(&self) -> String {
        format!(
            "{} executors, progress missed by {:.3} followed from the beginning, {:.3} from where \
             the others are",
            self.executors,
            self.whole / self.executors,
            self.late / self.executors
        )
    }
}
