//! Comparisons in the simulator of executors.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_lab::baselines;
use elastane_lab::reproduce::{Change, Lineup, Paper, Setup, papers_settings};
use elastane_lab::workload::generate;
use elastane_sim::experiment::Comparison;
use elastane_sim::report::write_table;
use elastane_sim::simulator::Settings;
use serde_json::Value;

use super::super::{bad_input, failed};
use super::figures::{figures_json, write_figures};

pub(super) fn run(
    paper: &Paper,
    run: &RunOptions,
    seeds: u32,
    output: &mut impl Write,
) -> Result<Value, Failure> {
    run_and_tell(paper, run, seeds, output, |_, _| Ok(()))
}

/// As [`run`]; `tell_more` adds lines about each comparison.
pub(super) fn run_and_tell<W: Write>(
    paper: &Paper,
    run: &RunOptions,
    seeds: u32,
    output: &mut W,
    tell_more: impl Fn(&mut W, &Comparison) -> Result<(), Failure>,
) -> Result<Value, Failure> {
    writeln!(output, "{}", paper.title)?;
    let mut reports = Vec::new();
    for experiment in paper.experiments {
        let comparison = compare(run, papers_settings(), &experiment.lineup, seeds, Change::NONE)?;
        let compared = experiment.compared(&comparison);
        writeln!(output)?;
        write_table(output, &comparison)?;
        writeln!(output)?;
        write_figures(output, &compared)?;
        tell_more(output, &comparison)?;
        output.flush()?;
        let mut report = run.to_json(&comparison);
        report["claims"] = figures_json(&compared);
        reports.push(report);
    }
    Ok(with_others(reports))
}

/// The first report, with the others under `others`.
pub(super) fn with_others(reports: Vec<Value>) -> Value {
    let mut reports = reports.into_iter();
    let mut main = reports.next().unwrap_or_default();
    main["others"] = reports.collect();
    main
}

/// Runs all policies and variants of a lineup on the same seeds, under a change of the setup. `rules` apply
/// where the command line has no option.
pub(super) fn compare(
    run: &RunOptions,
    rules: Settings,
    lineup: &Lineup,
    seeds: u32,
    change: Change,
) -> Result<Comparison, Failure> {
    let compare = |policies: &[String], last: Change| {
        run.compare(baselines::policies(), policies, seeds, None, |seed| {
            let generated = generate(lineup.workload, seed).map_err(bad_input)?;
            let mut setup =
                Setup { workload: run.with_errors(generated), settings: run.settings(rules) };
            for change in [change, last] {
                change.apply(&mut setup).map_err(failed)?;
            }
            Ok((setup.workload, setup.settings))
        })
    };
    let policies: Vec<String> = lineup.policies.iter().map(ToString::to_string).collect();
    let mut all = compare(&policies, Change::NONE)?;
    for variant in lineup.variants {
        let compared = compare(&[variant.policy.to_owned()], variant.change)?;
        let named = compared.policies.into_iter().map(|mut one| {
            one.policy = variant.name.to_owned();
            one
        });
        all.policies.extend(named);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use elastane_core::DemandError;
    use elastane_lab::reproduce::{PublishedExperiment, Variant};

    use super::super::parsed;
    use super::*;

    /// One application on a cluster that it fills, and the same with machines of half the cores.
    const LOCKSTEP: PublishedExperiment = PublishedExperiment {
        lineup: Lineup {
            workload: "lockstep",
            policies: &["static"],
            variants: &[Variant {
                name: "static-on-half",
                policy: "static",
                change: Change::Set(|setup| {
                    for machine in &mut setup.workload.machines {
                        machine.cpu_cores /= 2.0;
                    }
                }),
            }],
        },
        claims: &[],
    };

    fn reproduced(experiments: &'static [PublishedExperiment], options: &[&str]) -> Value {
        let options = parsed(options);
        let paper = Paper { name: "test", title: "Test", experiments };
        run(&paper, &options, 2, &mut Vec::new()).unwrap()
    }

    #[test]
    fn the_report_has_each_policy_seed_by_seed_and_the_other_experiments() {
        let report = reproduced(&[LOCKSTEP, LOCKSTEP], &[]);
        for report in [&report, &report["others"][0]] {
            assert_eq!(report["lower_bound_s"].as_array().unwrap().len(), 2);
            assert_eq!(report["policies"].as_object().unwrap().len(), 2);
            for name in ["static", "static-on-half"] {
                let policy = &report["policies"][name];
                assert_eq!(policy["makespan_s"].as_array().unwrap().len(), 2, "{name}");
                assert!(policy["mean_completion_s"][1].is_number(), "{name}");
                assert!(policy["utilization"]["cpu"][1].is_number(), "{name}");
            }
            assert!(report["claims"].is_array());
        }
    }

    #[test]
    fn a_variant_changes_its_own_runs_alone() {
        let report = reproduced(&[LOCKSTEP], &[]);
        let makespan_s = |name: &str| report["policies"][name]["makespan_s"][0].as_f64().unwrap();
        assert!(makespan_s("static-on-half") > 1.5 * makespan_s("static"), "{report}");
    }

    #[test]
    fn nobody_starves_unless_it_is_asked_for() {
        // The changes check the settings, then end the comparison with an error.
        let checks: [(&[&str], Change); 2] = [
            (
                &[],
                Change::Compute(|setup| {
                    let settings = setup.settings;
                    assert_eq!(settings.cluster.starvation_wait_ms, settings.give_up_after_ms);
                    Err(DemandError::Empty)
                }),
            ),
            (
                &["--starvation-wait-ms", "5000"],
                Change::Compute(|setup| {
                    assert_eq!(setup.settings.cluster.starvation_wait_ms, 5_000);
                    Err(DemandError::Empty)
                }),
            ),
        ];
        for (options, check) in checks {
            let run = parsed(options);
            let rules = papers_settings();
            assert!(compare(&run, rules, &LOCKSTEP.lineup, 1, check).is_err());
        }
    }
}
