//! As a table of plain text.

use std::io::{self, Write};

use elastane_core::Resource;

use crate::experiment::{Comparison, PolicyOutcomes};
use crate::simulator::{LEVELS, LowerBound, SimulatedRun};
use crate::summary::{deviation, mean};

/// A row per policy: makespan, completion times, utilization, distance from the lower bound; and a row
/// for the time above each level. With several seeds: means, and the deviation of the makespan.
///
/// # Errors
/// Those of `output`.
pub fn write_table(output: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    let bounds = comparison.bounds.iter();
    let bounds_s: Vec<f64> = bounds.map(LowerBound::seconds).collect();
    writeln!(
        output,
        "{}: {} applications, lower bound {:.0} s{}",
        comparison.workload,
        applications(comparison),
        mean(&bounds_s),
        match comparison.seeds.len() {
            1 => String::new(),
            seeds => format!(", means over {seeds} seeds"),
        }
    )?;
    writeln!(
        output,
        "\n{:<14} {:>10} {:>8} {:>8} {:>10} {:>10}   {:>5} {:>6} {:>7} {:>5}  %",
        "policy",
        "makespan s",
        "± s",
        "÷ bound",
        "mean s",
        "median s",
        "cpu",
        "memory",
        "network",
        "disk"
    )?;
    for policy in &comparison.policies {
        let makespans = each(policy, |outcome| outcome.makespan_s);
        let over = makespans.iter().zip(&bounds_s);
        let over: Vec<f64> = over.map(|(makespan_s, bound_s)| makespan_s / bound_s).collect();
        let used = Resource::ALL.map(|resource| {
            let outcomes = policy.outcomes.iter();
            let used: Vec<f64> = outcomes.map(|it| it.utilization.get(resource)).collect();
            100.0 * mean(&used)
        });
        writeln!(
            output,
            "{:<14} {:>10.0} {:>8.0} {:>8.2} {:>10.0} {:>10.0}   {:>5.1} {:>6.1} {:>7.1} {:>5.1}",
            policy.policy,
            mean(&makespans),
            deviation(&makespans),
            mean(&over),
            mean(&each(policy, SimulatedRun::mean_completion_s)),
            mean(&each(policy, SimulatedRun::median_completion_s)),
            used[0],
            used[1],
            used[2],
            used[3],
        )?;
    }
    write_levels(output, comparison)
}

fn write_levels(output: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    let levels = LEVELS.map(|level| format!("{:.0}", 100.0 * level)).join("/");
    writeln!(output, "\nmachines' time with more than {levels} % wanted, in %")?;
    write!(output, "{:<14}", "policy")?;
    for resource in Resource::ALL {
        write!(output, " {:>17}", resource.name())?;
    }
    writeln!(output)?;
    for policy in &comparison.policies {
        write!(output, "{:<14}", policy.policy)?;
        for resource in Resource::ALL {
            let levels = (0..LEVELS.len()).map(|level| {
                let outcomes = policy.outcomes.iter();
                let above: Vec<f64> =
                    outcomes.map(|it| it.time_above[resource as usize][level]).collect();
                format!("{:.1}", 100.0 * mean(&above))
            });
            write!(output, " {:>17}", levels.collect::<Vec<_>>().join("/"))?;
        }
        writeln!(output)?;
    }
    Ok(())
}

fn applications(comparison: &Comparison) -> usize {
    let first = comparison.policies.first();
    let outcome = first.and_then(|policy| policy.outcomes.first());
    outcome.map_or(0, |outcome| outcome.applications.len())
}

fn each(policy: &PolicyOutcomes, value: impl Fn(&SimulatedRun) -> f64) -> Vec<f64> {
    policy.outcomes.iter().map(value).collect()
}
