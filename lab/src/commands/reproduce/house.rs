//! `elastane-lab reproduce house`: the policy elastane against MinFrag on every workload.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::reproduce::Setup;
use elastane_lab::reproduce::house::{
    AgainstBaseline, BASELINE, Ratios, VARIANTS, WORKLOADS, over_workloads,
};
use elastane_sim::simulator::Settings;
use serde_json::{Value, json};

use super::simulated::{compare, with_others};

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    writeln!(
        output,
        "elastane against {BASELINE}, geometric means over {seeds} seeds: makespan and mean \
         completion time, in % more or less"
    )?;
    write!(
        output,
        "{:<18} {:>14}",
        "workload",
        format!("{BASELINE} ÷ bound")
    )?;
    for variant in VARIANTS {
        write!(output, " {:>16}", variant.name)?;
    }
    writeln!(output)?;
    let mut reports = Vec::new();
    let mut workloads = Vec::new();
    for workload in WORKLOADS {
        let rules = Settings::default();
        let as_set = |_: &mut Setup| Ok(());
        let comparison = compare(run, rules, workload, &[BASELINE], &VARIANTS, seeds, &as_set)?;
        let mut report = run.to_json(&comparison)?;
        if let Some(against) = AgainstBaseline::of(&comparison) {
            write!(
                output,
                "{workload:<18} {:>14.2}",
                against.baseline_over_bound
            )?;
            write_ratios(output, &against.variants)?;
            let apart = if against.is_apart() { "  apart" } else { "" };
            writeln!(output, "{apart}")?;
            output.flush()?;
            report["against_baseline"] = in_json(&against.variants);
            workloads.push(against);
        }
        reports.push(report);
    }
    let means = over_workloads(&workloads);
    write!(output, "{:<18} {:>14}", "geometric mean", "")?;
    write_ratios(output, &means)?;
    writeln!(output)?;
    let mut all = with_others(reports);
    all["geometric_mean"] = in_json(&means);
    Ok(all)
}

fn write_ratios(output: &mut impl Write, ratios: &[Ratios]) -> Result<(), Failure> {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    for ratios in ratios {
        let (makespan, completion) = (percent(ratios.makespan), percent(ratios.mean_completion));
        write!(
            output,
            " {:>16}",
            format!("{makespan:+.1} {completion:+.1}")
        )?;
    }
    Ok(())
}

fn in_json(ratios: &[Ratios]) -> Value {
    let named = VARIANTS.iter().zip(ratios).map(|(variant, ratios)| {
        let figures = json!({
            "makespan": ratios.makespan,
            "mean_completion": ratios.mean_completion,
        });
        (variant.name.to_owned(), figures)
    });
    Value::Object(named.collect())
}
