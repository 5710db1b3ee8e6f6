//! Elastane: the application whose waiting executors demand least, with room held for it.

use std::str::FromStr;

use super::{Candidate, Detail, Place, Policy, on_plan};
use crate::by_plan::{ByPlan, PlanScore, Power};
use crate::fit::{Excess, Peaks};

/// The house policy. With n the executors that the application waits for, d the demand of one over
/// its life L and C the node's capacity, `nodes = n · max over r of ∫ d_r dt ÷ (L · C_r)` and
/// `score = nodes · Lᵖ`; the smallest wins. With p = 1 it would be what is left of the application's
/// work: shortest remaining processing time, which makes the mean completion time the least where
/// work can be interrupted (Schrage, Operations Research 16(3), 1968). Executors cannot be, and a
/// long one that starts late is the end of the makespan, so p is smaller ([`Favor`]).
///
/// Since executors cannot be interrupted, the first would wait behind whatever fits in the meantime;
/// room is held for them, see [`ByPlan::hold`].
///
/// An executor whose end nobody knows counts as one of 10 minutes.
/// `docs/measurements/house-policy.md` has what was tried and measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elastane {
    /// Whether peaks may meet.
    pub peaks: Peaks,
    /// What it is to make short.
    pub favor: Favor,
}

impl Default for Elastane {
    fn default() -> Self {
        Self {
            peaks: Peaks::Soft,
            favor: Favor::default(),
        }
    }
}

/// The dial between makespan and completion time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Favor {
    /// The time until all is done: p = 0, and no room is held, so that whatever fits goes.
    Makespan,
    /// Both: p = 0, and room is held for the first three applications of each queue.
    #[default]
    Balanced,
    /// The mean time from submission to end: p = 1/2, and room is held.
    Completion,
}

/// Number of applications of a queue for which room is held.
const HOLD: u32 = 3;

impl Favor {
    /// All of them.
    pub const ALL: [Favor; 3] = [Favor::Makespan, Favor::Balanced, Favor::Completion];

    /// The name that configuration uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Favor::Makespan => "makespan",
            Favor::Balanced => "balanced",
            Favor::Completion => "completion",
        }
    }

    fn hold(self) -> u32 {
        match self {
            Favor::Makespan => 0,
            Favor::Balanced | Favor::Completion => HOLD,
        }
    }

    fn power(self) -> Power {
        match self {
            Favor::Makespan | Favor::Balanced => Power::Zero,
            Favor::Completion => Power::Half,
        }
    }
}

/// A name that no [`Favor`] has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not known, {} are there", Favor::ALL.map(Favor::name).join(", "))]
pub struct UnknownFavor {
    /// The name that was asked for.
    pub name: String,
}

impl FromStr for Favor {
    type Err = UnknownFavor;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Favor::ALL.into_iter().find(|favor| favor.name() == name);
        found.ok_or_else(|| UnknownFavor {
            name: name.to_owned(),
        })
    }
}

impl Elastane {
    fn plan(&self) -> ByPlan {
        ByPlan {
            peaks: self.peaks,
            score: PlanScore::Waiting(self.favor.power()),
            hold: self.favor.hold(),
        }
    }
}

impl Policy for Elastane {
    fn name(&self) -> &'static str {
        "elastane"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        on_plan::fits(self.plan(), place, candidate)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        on_plan::score(self.plan(), place, candidate)
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(self.plan())
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        on_plan::detail(self.plan(), place, candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::available::Available;
    use crate::demand::Demand;
    use crate::node::Node;
    use crate::policy::Waiting;
    use crate::resources::Resources;

    fn score(favor: Favor, demand: &Demand, executors: u32) -> f64 {
        let node = Node::new(Resources::from_array([4.0, 8.0, 0.0, 100.0]));
        let available = Available::new(node.capacity, [], 0);
        let place = Place {
            node: &node,
            available: &available,
            booked: Resources::ZERO,
            now_ms: 0,
            rates: None,
        };
        let waiting = Waiting {
            executors,
            ..Waiting::default()
        };
        let candidate = Candidate {
            demand,
            needed: demand,
            request: Resources::ZERO,
            waiting,
        };
        let policy = Elastane {
            favor,
            ..Elastane::default()
        };
        policy.score(&place, &candidate)
    }

    #[test]
    fn the_mean_share_of_the_scarcest_resource_counts_for_each_executor() {
        let slot = |cpu, disk| Resources::from_array([cpu, 1.0, 9.0, disk]);
        let demand = Demand::series(18_000, &[slot(1.0, 100.0), slot(2.0, 50.0)]).unwrap();
        // Three quarters of the disk; less of CPU, and the network is not known.
        for favor in [Favor::Makespan, Favor::Balanced] {
            assert_eq!(score(favor, &demand, 1), 0.75);
            assert_eq!(score(favor, &demand, 6), 4.5);
        }
        assert_eq!(score(Favor::Completion, &demand, 1), 0.75 * 6.0);
    }

    #[test]
    fn an_executor_without_an_end_counts_as_one_of_ten_minutes() {
        let request = Demand::for_life(Resources::from_array([1.0, 4.0, 0.0, 0.0])).unwrap();
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
            "speed is not known, makespan, balanced, completion are there"
        );
    }
}
