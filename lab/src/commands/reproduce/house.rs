//! `elastane-lab reproduce house`: the policy elastane against MinFrag on every workload, both with
//! production settings.

use std::io::Write;

use elastane_cli::failure::Failure;
use elastane_cli::run_options::RunOptions;
use elastane_core::policy::Favor;
use elastane_lab::reproduce::{Change, Lineup, Setup, Variant};
use elastane_sim::experiment::{Comparison, PolicyOutcomes};
use elastane_sim::simulator::{Settings, SimulatedRun};
use elastane_sim::summary::mean;
use serde_json::{Map, Value, json};

use super::simulated::{compare, with_others};

/// The baseline's makespan over the lower bound up to which a workload leaves nothing to gain and is listed
/// apart.
const CLOSE_TO_BOUND: f64 = 1.1;

const BASELINE: &str = "minfrag";

const WORKLOADS: [&str; 5] = ["elasecutor", "elasecutor-tpch", "prophet", "ursa-mix", "lockstep"];

/// The policy elastane with each value of `placement.favor`.
const VARIANTS: [Variant; 3] = [
    favoring("makespan", |it| it.settings.policy_options.favor = Favor::Makespan),
    favoring("balanced", |it| it.settings.policy_options.favor = Favor::Balanced),
    favoring("completion", |it| it.settings.policy_options.favor = Favor::Completion),
];

const fn favoring(name: &'static str, change: fn(&mut Setup)) -> Variant {
    Variant { name, policy: "elastane", change: Change::Set(change) }
}

/// The results of elastane on a workload over those of the baseline.
struct AgainstBaseline {
    /// The baseline's makespan over the lower bound: the mean over the seeds.
    baseline_over_bound: f64,
    /// In the order of [`VARIANTS`].
    variants: Vec<Ratios>,
}

/// The results of a variant over those of the baseline: geometric means over the seeds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ratios {
    makespan: f64,
    mean_completion: f64,
}

pub(super) fn run(run: &RunOptions, seeds: u32, output: &mut impl Write) -> Result<Value, Failure> {
    writeln!(
        output,
        "elastane against {BASELINE}, geometric means over {seeds} seeds: makespan and mean \
         completion time, in % more or less"
    )?;
    let over_bound = format!("{BASELINE} ÷ bound");
    write!(output, "{:<18} {over_bound:>14}", "workload")?;
    for variant in VARIANTS {
        write!(output, " {:>16}", variant.name)?;
    }
    writeln!(output)?;
    let mut reports = Vec::new();
    let mut workloads = Vec::new();
    for workload in WORKLOADS {
        let lineup = Lineup { workload, policies: &[BASELINE], variants: &VARIANTS };
        let comparison = compare(run, Settings::default(), &lineup, seeds, Change::NONE)?;
        let mut report = run.to_json(&comparison);
        if let Some(against) = AgainstBaseline::of(&comparison) {
            let over_bound = against.baseline_over_bound;
            write!(output, "{workload:<18} {over_bound:>14.2}")?;
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
        let both = format!("{makespan:+.1} {completion:+.1}");
        write!(output, " {both:>16}")?;
    }
    Ok(())
}

fn in_json(ratios: &[Ratios]) -> Value {
    let named = VARIANTS.iter().zip(ratios).map(|(variant, ratios)| {
        let Ratios { makespan, mean_completion } = ratios;
        let figures = json!({ "makespan": makespan, "mean_completion": mean_completion });
        (variant.name.to_owned(), figures)
    });
    Value::Object(named.collect::<Map<_, _>>())
}

impl AgainstBaseline {
    /// None if the comparison lacks a policy.
    fn of(comparison: &Comparison) -> Option<Self> {
        let named = |name: &str| {
            let mut policies = comparison.policies.iter();
            policies.find(|one| one.policy == name)
        };
        let baseline = named(BASELINE)?;
        let bounds = comparison.bounds.iter().zip(&baseline.outcomes);
        let over_bound: Vec<_> =
            bounds.map(|(bound, outcome)| outcome.makespan_s / bound.seconds()).collect();
        let variants = VARIANTS.iter().map(|variant| {
            let variant = named(variant.name)?;
            Some(Ratios {
                makespan: ratio(variant, baseline, |outcome| outcome.makespan_s),
                mean_completion: ratio(variant, baseline, SimulatedRun::mean_completion_s),
            })
        });
        Some(Self {
            baseline_over_bound: mean(&over_bound),
            variants: variants.collect::<Option<_>>()?,
        })
    }

    /// Whether the workload leaves almost nothing to gain.
    fn is_apart(&self) -> bool {
        self.baseline_over_bound <= CLOSE_TO_BOUND
    }
}

/// The geometric mean over the workloads that are not apart, for each variant; empty if all are apart.
fn over_workloads(workloads: &[AgainstBaseline]) -> Vec<Ratios> {
    let counted: Vec<_> = workloads.iter().filter(|one| !one.is_apart()).collect();
    let variants = counted.first().map_or(0, |first| first.variants.len());
    let of = |ratio: &dyn Fn(&AgainstBaseline) -> f64| {
        geometric_mean(counted.iter().map(|one| ratio(one)))
    };
    (0..variants)
        .map(|variant| Ratios {
            makespan: of(&|one| one.variants[variant].makespan),
            mean_completion: of(&|one| one.variants[variant].mean_completion),
        })
        .collect()
}

fn ratio(of: &PolicyOutcomes, over: &PolicyOutcomes, figure: impl Fn(&SimulatedRun) -> f64) -> f64 {
    let pairs = of.outcomes.iter().zip(&over.outcomes);
    geometric_mean(pairs.map(|(of, over)| figure(of) / figure(over)))
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<_> = values.map(f64::ln).collect();
    mean(&logarithms).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(baseline_over_bound: f64, makespan: f64) -> AgainstBaseline {
        let ratios = Ratios { makespan, mean_completion: 1.0 };
        AgainstBaseline { baseline_over_bound, variants: vec![ratios] }
    }

    #[test]
    fn workloads_with_nothing_to_gain_do_not_count() {
        let mean = over_workloads(&[one(1.2, 0.5), one(1.1, 0.1), one(1.3, 2.0)]);
        assert_eq!(mean.len(), 1);
        assert!((mean[0].makespan - 1.0).abs() < 1e-12, "{mean:?}");
        assert_eq!(over_workloads(&[one(1.0, 0.5)]), []);
    }
}
