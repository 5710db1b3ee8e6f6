//! `elastane-lab reproduce reprovision`: the gain and the cost of reprovisioning.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::reproduce::Corrections;
use elastane_lab::reproduce::reprovision::PAPER;
use elastane_sim::experiment::{Comparison, PolicyOutcomes};
use elastane_sim::simulator::SimulatedRun;
use elastane_sim::summary;
use serde_json::Value;

use super::simulated::run_and_tell;

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    run_and_tell(&PAPER, run, seeds, output, write_costs)
}

type CountOf = fn(&Corrections) -> u64;

const COUNTS: [(&str, CountOf); 6] = [
    ("windows", |it| it.windows),
    ("measured", |it| it.measured),
    ("raised", |it| it.raised),
    ("held up", |it| it.held_up),
    ("too little", |it| it.too_little_left),
    ("unused", |it| it.unused),
];

/// Means over the seeds.
fn write_costs(output: &mut impl Write, comparison: &Comparison) -> Result<(), Failure> {
    write!(output, "\n{:<18}", "")?;
    for (heading, _) in COUNTS {
        write!(output, " {heading:>9}")?;
    }
    writeln!(output, " {:>22}", "CPU lent, part used")?;
    for policy in &comparison.policies {
        write!(output, "{:<18}", policy.policy)?;
        for (_, count) in COUNTS {
            let count = mean(policy, |one| count(&corrections(one)) as f64);
            write!(output, " {count:>9.0}")?;
        }
        let lent = mean(policy, |one| corrections(one).lent.cpu_cores);
        let used = mean(policy, |one| corrections(one).lent_and_used.cpu_cores);
        let work = mean(policy, |one| one.work_done.cpu_cores);
        let (lent_part, used_part) = (percent(lent, work), percent(used, lent));
        writeln!(output, " {lent_part:>12.2} %, {used_part:>5.1} %")?;
    }
    writeln!(output, "CPU lent: in % of the CPU work of all executors; part used: in % of that")?;
    Ok(())
}

fn corrections(outcome: &SimulatedRun) -> Corrections {
    Corrections::of(&outcome.reprovisioned)
}

fn percent(amount: f64, whole: f64) -> f64 {
    if whole > 0.0 { 100.0 * amount / whole } else { 0.0 }
}

fn mean(policy: &PolicyOutcomes, of: impl Fn(&SimulatedRun) -> f64) -> f64 {
    summary::mean(&policy.outcomes.iter().map(of).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use elastane_lab::reproduce::{Lineup, Paper, PublishedExperiment};

    use super::super::parsed;
    use super::*;

    /// One application instead of 132.
    const SMALL: Paper = Paper {
        experiments: &[PublishedExperiment {
            lineup: Lineup { workload: "lockstep", ..PAPER.experiments[0].lineup },
            ..PAPER.experiments[0]
        }],
        ..PAPER
    };

    /// The output and the report with executors that live shorter and longer than predicted.
    fn reproduced() -> (String, Value) {
        let run = parsed(&["--length-error", "0.4"]);
        let mut output = Vec::new();
        let report = run_and_tell(&SMALL, &run, 1, &mut output, write_costs).unwrap();
        (String::from_utf8(output).unwrap(), report)
    }

    #[test]
    fn windows_open_where_it_is_reprovisioned_and_nowhere_else() {
        let (printed, report) = reproduced();
        let names: Vec<&str> =
            SMALL.experiments[0].lineup.variants.iter().map(|variant| variant.name).collect();
        let costs = printed.lines().skip_while(|it| !it.contains("too little"));
        let costs: Vec<&str> = costs.skip(1).take(names.len()).collect();
        for (name, line) in names.iter().zip(&costs) {
            let figures = line.strip_prefix(name).unwrap();
            let windows: u32 = figures.split_whitespace().next().unwrap().parse().unwrap();
            assert_eq!(windows > 0, name.ends_with("+reprov"), "{printed}");
        }
        assert_eq!(costs.len(), names.len());
        let reported = report["policies"].as_object().unwrap();
        assert!(names.iter().all(|name| reported.contains_key(*name)));
        let claims = report["claims"].as_array().unwrap();
        assert_eq!(claims.len(), SMALL.experiments[0].claims.len());
        assert!(claims.iter().all(|claim| claim["ours"][0].is_number()));
    }
}
