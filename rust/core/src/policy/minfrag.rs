//! MinFrag: the executor that leaves the least dominant remaining resource.

use super::on_plan::PlanPolicy;
use crate::by_plan::{ByPlan, PlanScore, Shares};
use crate::fit::Peaks;

/// Elasecutor (IEEE/ACM ToN 2021), section III-B: with t the earliest predicted end among the
/// executors on machine j, the placed one included,
/// `DRR_j = max over r of ( ∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt )`, the smallest wins.
///
/// Departures: where nothing on the node has a predicted end, the horizon is one slot, since the
/// remaining resources do not change. [`Peaks::Soft`] is a departure too.
#[derive(Debug, Clone, Copy, Default)]
pub struct MinFrag {
    /// Whether peaks may coincide.
    pub peaks: Peaks,
}

impl PlanPolicy for MinFrag {
    const NAME: &'static str = "minfrag";

    fn plan(&self) -> ByPlan {
        ByPlan { peaks: self.peaks, score: PlanScore::Remaining(Shares::Largest), planned_ahead: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::Amounts;
    use crate::by_plan::{horizon, remaining_shares};
    use crate::demand::Demand;
    use crate::left::Left;
    use crate::left_ahead::LeftAhead;
    use crate::need::Need;
    use crate::policy::tests::score_on_idle_node;
    use crate::policy::{Policy, Trc, Waiting};
    use crate::resources::{Resource, Resources};
    use crate::running::Running;
    use crate::timeline::Timeline;
    use crate::{SLOT_MS, slot_of};

    const FIGURE_6_CAPACITY: Resources = Resources::from_array([16.0, 64.0, 10.0, 500.0]);

    /// Elasecutor's Figure 6 in its own units (cores, GB, Gbit/s, MB/s; slots of T/8). The paper
    /// prints only the fractions; these series yield exactly those.
    fn figure_6() -> (Left, Demand, Demand) {
        let series = |columns: [&[f64]; 4]| -> Vec<Resources> {
            (0..columns[0].len())
                .map(|slot| Resources::from_array(columns.map(|column| column[slot])))
                .collect()
        };
        let remaining = series([
            &[12., 12., 10., 10., 8., 8., 12., 12.],
            &[32., 32., 40., 40., 24., 24., 40., 40.],
            &[2., 2., 1., 1., 4., 4., 2., 3.],
            &[100., 100., 200., 200., 150., 150., 200., 100.],
        ]);
        let running: Vec<_> = remaining.into_iter().map(|left| FIGURE_6_CAPACITY - left).collect();
        let running = Running::new(0, Demand::series(SLOT_MS, &running).unwrap());
        let first = series([
            &[3., 3., 3., 3., 2., 2., 3.],
            &[8., 8., 10., 10., 10., 10., 11.],
            &[2., 2., 1., 1., 3., 3., 1.],
            &[50., 50., 100., 100., 50., 50., 100.],
        ]);
        let second = series([
            &[4.; 9],
            &[10., 10., 15., 15., 10., 10., 15., 15., 15.],
            &[2., 2., 1., 1., 1., 1., 1., 2., 1.],
            &[100., 100., 150., 150., 150., 150., 150., 50., 50.],
        ]);
        (
            left(FIGURE_6_CAPACITY, &[running]),
            Demand::series(SLOT_MS, &first).unwrap(),
            Demand::series(SLOT_MS, &second).unwrap(),
        )
    }

    fn left(capacity: Resources, running: &[Running]) -> Left {
        Left::of(Amounts::rounded_down(capacity), Timeline::of(slot_of(0), running))
    }

    /// The horizon, and the share of each resource that remains up to it.
    fn remaining(left: &Left, demand: &Demand, capacity: Resources) -> (usize, [f64; 4]) {
        let need = Need::predicted(demand, 0.0, capacity);
        let horizon = horizon(left, need.life());
        let demanded = need.demanded_in(0, horizon);
        (horizon, remaining_shares(left.capacity(), left.sum(horizon), horizon, demanded))
    }

    fn largest(shares: [f64; 4]) -> f64 {
        shares.into_iter().fold(0.0, f64::max)
    }

    fn assert_close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    #[test]
    fn figure_6_gives_the_papers_fractions() {
        let (left, first, second) = figure_6();
        let (horizon, shares) = remaining(&left, &first, FIGURE_6_CAPACITY);
        assert_eq!(horizon, 7);
        let expected = [53. / 112., 165. / 448., 3. / 70., 6. / 35.];
        for (got, expected) in shares.into_iter().zip(expected) {
            assert_close(got, expected);
        }
        assert_close(largest(shares), 53. / 112.);

        let (horizon, shares) = remaining(&left, &second, FIGURE_6_CAPACITY);
        assert_eq!(horizon, 8);
        let expected = [13. / 32., 43. / 128., 1. / 10., 1. / 20.];
        for (got, expected) in shares.into_iter().zip(expected) {
            assert_close(got, expected);
        }
        assert_close(largest(shares), 13. / 32.);
    }

    /// Elasecutor's Figure 5: the dominant remaining resource is the one with the largest remaining share.
    #[test]
    fn the_largest_share_decides_whichever_resource_it_is() {
        let capacity = Resources::from_array([16.0, 64.0, 20.0, 500.0]);
        for dominant in Resource::ALL {
            let left = |resource| if resource == dominant { 0.5 } else { 0.25 };
            let used = Resources::from_array(Resource::ALL.map(|one| 1.0 - left(one)));
            let used = used.zip(capacity, |share, capacity| share * capacity);
            let demand = Demand::series(SLOT_MS, &[used]).unwrap();
            let score = |policy: &dyn Policy| {
                score_on_idle_node(policy, capacity, &demand, Waiting::default())
            };
            assert_eq!(score(&MinFrag::default()), 0.5);
            assert_eq!(score(&Trc::default()), 0.5 + 3.0 * 0.25);
        }
    }

    #[test]
    fn both_executors_of_figure_6_fit() {
        let (left, first, second) = figure_6();
        for demand in [first, second] {
            let need = Need::predicted(&demand, 0.0, FIGURE_6_CAPACITY);
            assert_eq!(need.fit(&left, Peaks::Strict), Ok(()));
        }
    }

    #[test]
    fn without_any_end_a_request_still_gets_a_score() {
        let capacity = Resources::from_array([4.0, 8.0, 0.0, 0.0]);
        let demand = Demand::for_life(Resources::from_array([1.0, 6.0, 0.0, 0.0]));
        let (_, shares) = remaining(&left(capacity, &[]), &demand, capacity);
        assert_close(largest(shares), 0.75);
    }
}
