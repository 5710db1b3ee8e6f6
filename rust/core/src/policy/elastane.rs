//! Elastane, the default policy: the application whose waiting executors demand least, with planned starts.

use std::str::FromStr;

use super::on_plan::PlanPolicy;
use crate::by_plan::{ByPlan, PlanScore, Power};
use crate::fit::Peaks;

/// The default policy. With n the number of executors that the application waits for, d the demand of one over
/// its life L and C the node's capacity, `nodes = n · max over r of ∫ d_r dt ÷ (L · C_r)` and `score = nodes ·
/// Lᵖ`; the smallest wins. With p = 1 the score would be the application's remaining work: shortest remaining
/// processing time, which minimizes the mean completion time if work is preemptible (Schrage, Operations
/// Research 16(3), 1968). Executors are not preemptible, and a long executor that starts late extends the
/// makespan, so p is smaller ([`Favor`]).
///
/// Without preemption the first application would wait behind all executors that fit meanwhile. Its start is
/// planned instead, and those behind may not delay it, see [`ByPlan::planned_ahead`].
///
/// An executor without a predicted end counts as one of 10 minutes.
/// `docs/measurements/house-policy.md` has the measurements and the rejected variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElastanePolicy {
    /// Whether peaks may coincide.
    pub peaks: Peaks,
    /// The time to minimize.
    pub favor: Favor,
}

impl Default for ElastanePolicy {
    fn default() -> Self {
        Self { peaks: Peaks::Soft, favor: Favor::default() }
    }
}

/// The trade-off between makespan and completion time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Favor {
    /// Makespan: p = 0, without planned starts, so that everything that fits starts.
    Makespan,
    /// Both: p = 0, with planned starts for the first applications of each queue.
    #[default]
    Balanced,
    /// Mean time from submission to end: p = 1/2, with planned starts.
    Completion,
}

/// Number of applications of each queue whose planned starts those behind may not delay.
const PLANNED_AHEAD: u32 = 8;

impl Favor {
    /// All values.
    pub const ALL: [Favor; 3] = [Favor::Makespan, Favor::Balanced, Favor::Completion];

    /// The name that configuration uses.
    pub fn name(self) -> &'static str {
        match self {
            Favor::Makespan => "makespan",
            Favor::Balanced => "balanced",
            Favor::Completion => "completion",
        }
    }
}

/// No [`Favor`] has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is unknown; the values are {}", Favor::ALL.map(Favor::name).join(", "))]
pub struct UnknownFavor {
    /// The unknown name.
    pub name: String,
}

impl FromStr for Favor {
    type Err = UnknownFavor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Favor::ALL.into_iter().find(|favor| favor.name() == name);
        found.ok_or_else(|| UnknownFavor { name: name.to_owned() })
    }
}

impl PlanPolicy for ElastanePolicy {
    const NAME: &'static str = "elastane";

    fn plan(&self) -> ByPlan {
        let (power, planned_ahead) = match self.favor {
            Favor::Makespan => (Power::Zero, 0),
            Favor::Balanced => (Power::Zero, PLANNED_AHEAD),
            Favor::Completion => (Power::Half, PLANNED_AHEAD),
        };
        ByPlan { peaks: self.peaks, score: PlanScore::Waiting(power), planned_ahead }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Demand;
    use crate::policy::Waiting;
    use crate::policy::tests::score_on_idle_node;
    use crate::resources::Resources;

    fn score(favor: Favor, demand: &Demand, executors: u32) -> f64 {
        let capacity = Resources::from_array([4.0, 8.0, 0.0, 100.0]);
        let waiting = Waiting { executors, ..Waiting::default() };
        let policy = ElastanePolicy { favor, ..ElastanePolicy::default() };
        score_on_idle_node(&policy, capacity, demand, waiting)
    }

    #[test]
    fn the_mean_share_of_the_scarcest_resource_counts_for_each_executor() {
        let slot = |cpu, disk| Resources::from_array([cpu, 1.0, 9.0, disk]);
        let demand = Demand::series(18_000, &[slot(1.0, 100.0), slot(2.0, 50.0)]).unwrap();
        // Three quarters of the disk and less of the CPU; the network is unknown.
        for favor in [Favor::Makespan, Favor::Balanced] {
            assert_eq!(score(favor, &demand, 1), 0.75);
            assert_eq!(score(favor, &demand, 6), 4.5);
        }
        assert_eq!(score(Favor::Completion, &demand, 1), 0.75 * 6.0);
    }

    #[test]
    fn an_executor_without_an_end_counts_as_one_of_ten_minutes() {
        let request = Demand::for_life(Resources::from_array([1.0, 4.0, 0.0, 0.0]));
        assert_eq!(score(Favor::Balanced, &request, 2), 1.0);
        let completion = score(Favor::Completion, &request, 2);
        assert!((completion - 600_f64.sqrt()).abs() < 1e-9, "{completion}");
    }

    #[test]
    fn a_favor_is_known_by_its_name() {
        for favor in Favor::ALL {
            assert_eq!(favor.name().parse(), Ok(favor));
        }
        let unknown = "speed".parse::<Favor>().unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "speed is unknown; the values are makespan, balanced, completion"
        );
    }
}
