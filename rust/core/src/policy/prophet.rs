//! Prophet: the executor whose demand is closest to the available resources.

mod area;
mod turn;

use self::area::{Areas, areas};
use super::bounded::bounded;
use super::by_request::fit_by_request;
use super::{Candidate, Detail, Place, Policy, Turn, Waiting};
use crate::fit::Excess;
use crate::resources::{Resource, Resources};

/// Prophet (Xu, Xu and Jiang, ICAC 2016), section IV, formulas (1) to (8): with D the executor's
/// demand, A the available resources, w_i = 1 − i/n the weight of stage i of n (counted from 0),
/// and C the capacity, for r network and disk
///
/// ```text
/// F_r     = Σ over i of w_i · ∫ over stage i of max(0, A_r − D_r) dt ÷ C_r     fragmentation
/// O_r     = Σ over i of w_i · ∫ over stage i of max(0, D_r − A_r) dt ÷ C_r     over-allocation
/// score_r = (1 − η) · O_r + η · F_r                                            η = 0.3
/// score   = √( Σ over r of score_r² )                                          the smallest wins
/// ```
///
/// CPU and memory have to fit by request. An application goes if all its executors find room at
/// once (a gang) and it is of the half that has waited longest. Past its deadline, three times the
/// average wait, it goes first.
///
/// Departures: a stage is a maximal period of constant demand, since demands come without Spark's
/// stages. An application past its deadline goes first even if not all of its executors find room,
/// since one that is larger than the cluster never would. The wait counts from the submission, so
/// that a partly placed gang stays the oldest. A demand without an end is evaluated until one slot
/// after the last change of the available resources.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prophet {
    /// η: the weight of fragmentation; over-allocation has the rest.
    pub eta: f64,
}

/// The scored resources. CPU and memory fit by request.
const SCORED: [Resource; 2] = [Resource::Network, Resource::Disk];

impl Default for Prophet {
    fn default() -> Self {
        Self { eta: 0.3 }
    }
}

impl Prophet {
    fn weighted(&self, areas: &Areas) -> Resources {
        areas.over.zip(areas.fragmented, |over, fragmented| {
            (1.0 - self.eta) * over + self.eta * fragmented
        })
    }
}

impl Policy for Prophet {
    fn name(&self) -> &'static str {
        "prophet"
    }

    fn most_booked(&self) -> Option<f64> {
        Some(1.0)
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        fit_by_request(place, candidate, place.node.capacity)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let weighted = self.weighted(&areas(place.available, candidate.demand));
        let squares = SCORED.map(|resource| weighted.get(resource).powi(2));
        bounded(squares.into_iter().sum::<f64>().sqrt())
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        let capacity = place.node.capacity;
        let areas = areas(place.available, candidate.demand);
        Detail::default()
            .resources("F", &SCORED, capacity, areas.fragmented)
            .resources("O", &SCORED, capacity, areas.over)
            .resources("score", &SCORED, capacity, self.weighted(&areas))
    }

    fn needs_gangs(&self) -> bool {
        true
    }

    fn turns(&self, waiting: &[Waiting], now_ms: i64) -> Vec<Turn> {
        turn::turns(waiting, now_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demand::Demand;
    use crate::policy::tests::score_on_idle_node;

    const CAPACITY: Resources = Resources::from_array([10.0; 4]);

    fn score(demand: [f64; 4]) -> f64 {
        scored(&Prophet::default(), demand)
    }

    /// The score on an idle node, for one slot of a second.
    fn scored(prophet: &Prophet, demand: [f64; 4]) -> f64 {
        let demand = Demand::series(1_000, &[Resources::from_array(demand)]).unwrap();
        score_on_idle_node(prophet, CAPACITY, &demand, Waiting::default())
    }

    fn assert_close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    #[test]
    fn fragmentation_counts_eta_and_over_allocation_the_rest() {
        // The disk is used exactly. The network's F is 0.6, then its O.
        assert_close(score([0.0, 0.0, 4.0, 10.0]), 0.3 * 0.6);
        assert_close(score([0.0, 0.0, 16.0, 10.0]), 0.7 * 0.6);
        let fragmentation_alone = Prophet { eta: 1.0 };
        assert_close(scored(&fragmentation_alone, [0.0, 0.0, 4.0, 10.0]), 0.6);
    }

    #[test]
    fn the_score_is_the_norm_over_network_and_disk() {
        // 0.3 and 0.4 times η.
        assert_close(score([0.0, 0.0, 7.0, 6.0]), 0.3 * 0.5);
    }

    #[test]
    fn cpu_and_memory_are_not_scored() {
        assert_close(score([9.0, 99.0, 10.0, 10.0]), 0.0);
    }
}
