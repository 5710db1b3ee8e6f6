//! The policy elastane against MinFrag, both with production settings.

use elastane_core::policy::Favor;
use elastane_sim::experiment::{Comparison, PolicyOutcomes};
use elastane_sim::simulator::Outcome;
use elastane_sim::summary::mean;

use super::Variant;
use super::setup::Setup;

/// MinFrag's makespan over the lower bound up to which a workload leaves nothing to gain and is listed
/// apart.
const CLOSE_TO_BOUND: f64 = 1.1;

/// The policy that elastane is compared with.
pub const BASELINE: &str = "minfrag";

/// The compared workloads.
pub const WORKLOADS: [&str; 5] = [
    "elasecutor",
    "elasecutor-tpch",
    "prophet",
    "ursa-mix",
    "lockstep",
];

/// The policy elastane with each value of `placement.favor`.
pub const VARIANTS: [Variant; 3] = [
    Variant {
        name: "makespan",
        policy: "elastane",
        change: |setup| favor(setup, Favor::Makespan),
    },
    Variant {
        name: "balanced",
        policy: "elastane",
        change: |setup| favor(setup, Favor::Balanced),
    },
    Variant {
        name: "completion",
        policy: "elastane",
        change: |setup| favor(setup, Favor::Completion),
    },
];

fn favor(setup: &mut Setup, favor: Favor) -> Result<(), elastane_core::DemandError> {
    setup.settings.policy_options.favor = favor;
    Ok(())
}

/// The results of elastane on a workload over those of [`BASELINE`]: geometric means over the seeds.
#[derive(Debug, Clone, PartialEq)]
pub struct AgainstBaseline {
    /// The baseline's makespan over the lower bound: the mean over the seeds.
    pub baseline_over_bound: f64,
    /// In the order of [`VARIANTS`].
    pub variants: Vec<Ratios>,
}

/// The results of a variant over those of the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratios {
    /// The ratio of makespans.
    pub makespan: f64,
    /// The ratio of mean completion times.
    pub mean_completion: f64,
}

impl AgainstBaseline {
    /// None if the comparison lacks a policy.
    #[must_use]
    pub fn of(comparison: &Comparison) -> Option<Self> {
        let named = |name: &str| {
            let mut policies = comparison.policies.iter();
            policies.find(|one| one.policy == name)
        };
        let baseline = named(BASELINE)?;
        let bounds = comparison.bounds.iter().zip(&baseline.outcomes);
        let over_bound: Vec<_> = bounds
            .map(|(bound, outcome)| outcome.makespan_s / bound.seconds())
            .collect();
        let variants = VARIANTS.iter().map(|variant| {
            let variant = named(variant.name)?;
            Some(Ratios {
                makespan: ratio(variant, baseline, |outcome| outcome.makespan_s),
                mean_completion: ratio(variant, baseline, Outcome::mean_completion_s),
            })
        });
        Some(Self {
            baseline_over_bound: mean(&over_bound),
            variants: variants.collect::<Option<_>>()?,
        })
    }

    /// Whether the workload leaves almost nothing to gain.
    #[must_use]
    pub fn is_apart(&self) -> bool {
        self.baseline_over_bound <= CLOSE_TO_BOUND
    }
}

/// The geometric mean over the workloads that are not apart, for each variant; empty if all are apart.
#[must_use]
pub fn over_workloads(workloads: &[AgainstBaseline]) -> Vec<Ratios> {
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

fn ratio(of: &PolicyOutcomes, over: &PolicyOutcomes, figure: impl Fn(&Outcome) -> f64) -> f64 {
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
        let ratios = Ratios {
            makespan,
            mean_completion: 1.0,
        };
        AgainstBaseline {
            baseline_over_bound,
            variants: vec![ratios],
        }
    }

    #[test]
    fn workloads_with_nothing_to_gain_do_not_count() {
        let mean = over_workloads(&[one(1.2, 0.5), one(1.1, 0.1), one(1.3, 2.0)]);
        assert_eq!(mean.len(), 1);
        assert!((mean[0].makespan - 1.0).abs() < 1e-12, "{mean:?}");
        assert_eq!(over_workloads(&[one(1.0, 0.5)]), []);
    }
}
