//! MinFrag: the executor that leaves the least dominant remaining resource.

use super::bounded::bounded;
use super::{Candidate, Detail, Place, Policy, close_shares};
use crate::available::Available;
use crate::by_plan::{ByPlan, PlanScore, Shares};
use crate::demand::Demand;
use crate::fit::{Excess, Peaks, fit_by};
use crate::resources::{Resource, Resources};

/// Elasecutor (IEEE/ACM ToN 2021), section III-B: with t the earliest predicted end among the
/// executors on machine j, the placed one included,
/// `DRR_j = max over r of ( ∫₀ᵗ remaining_r dt ÷ ∫₀ᵗ capacity_r dt )`, the smallest wins.
///
/// Departs from it where nothing on the node has a predicted end: what remains does not change
/// then, and one slot is looked at. [`Peaks::Stretch`] is a departure, too.
#[derive(Debug, Clone, Copy, Default)]
pub struct MinFrag {
    /// Whether peaks may meet.
    pub peaks: Peaks,
}

impl Policy for MinFrag {
    fn name(&self) -> &'static str {
        "minfrag"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        fit_by(self.peaks, place.available, candidate.needed)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let remaining = Remaining::new(place.available, candidate.demand);
        bounded(remaining.share.to_array().into_iter().fold(0.0, f64::max))
    }

    fn peaks(&self) -> Peaks {
        self.peaks
    }

    fn close_scores(&self) -> f64 {
        close_shares(self.peaks)
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(ByPlan {
            peaks: self.peaks,
            score: PlanScore::Remaining(Shares::Largest),
            hold: 0,
        })
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        Remaining::new(place.available, candidate.demand).detail(place.node.capacity)
    }
}

/// What remains of each resource up to the horizon once an executor is placed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Remaining {
    /// t of the formula.
    pub(super) horizon_ms: i64,
    /// `∫₀ᵗ remaining ÷ ∫₀ᵗ capacity`; 0 for what the node does not know.
    pub(super) share: Resources,
}

impl Remaining {
    pub(super) fn new(available: &Available, demand: &Demand) -> Self {
        let ends = [available.first_end_ms(), demand.duration_ms()];
        let horizon_ms = ends
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_else(|| i64::from(demand.slot_ms()));
        let remaining = available
            .segments(demand, horizon_ms)
            .fold(Resources::ZERO, |sum, segment| {
                sum + (segment.available - segment.demand) * segment.length_ms() as f64
            });
        let share = remaining.zip(available.capacity(), |remaining, capacity| {
            if capacity > 0.0 {
                remaining / (capacity * horizon_ms as f64)
            } else {
                0.0
            }
        });
        Self { horizon_ms, share }
    }

    pub(super) fn detail(&self, capacity: Resources) -> Detail {
        Detail::default()
            .time_ms("horizon_ms", self.horizon_ms)
            .resources("remaining_share", &Resource::ALL, capacity, self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit;
    use crate::node::Node;
    use crate::policy::{Trc, Waiting};
    use crate::running::Running;

    /// Elasecutor's Figure 6 in its own units (cores, GB, Gbit/s, MB/s; slots of T/8). The paper
    /// prints the fractions; the series were built to give exactly those.
    fn figure_6() -> (Available, Demand, Demand) {
        let series = |columns: [&[f64]; 4]| -> Vec<Resources> {
            (0..columns[0].len())
                .map(|slot| Resources::from_array(columns.map(|column| column[slot])))
                .collect()
        };
        let capacity = Resources::from_array([16.0, 64.0, 10.0, 500.0]);
        let remaining = series([
            &[12., 12., 10., 10., 8., 8., 12., 12.],
            &[32., 32., 40., 40., 24., 24., 40., 40.],
            &[2., 2., 1., 1., 4., 4., 2., 3.],
            &[100., 100., 200., 200., 150., 150., 200., 100.],
        ]);
        let running: Vec<_> = remaining.into_iter().map(|left| capacity - left).collect();
        let running = Running::new(0, Demand::series(1_000, &running).unwrap());
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
            Available::new(capacity, &[running], 0),
            Demand::series(1_000, &first).unwrap(),
            Demand::series(1_000, &second).unwrap(),
        )
    }

    fn largest(remaining: Remaining) -> f64 {
        remaining.share.to_array().into_iter().fold(0.0, f64::max)
    }

    fn assert_close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-12, "{got} is not {expected}");
    }

    #[test]
    fn figure_6_gives_the_papers_fractions() {
        let (available, first, second) = figure_6();
        let first_score = Remaining::new(&available, &first);
        assert_eq!(first_score.horizon_ms, 7_000);
        let expected = [53. / 112., 165. / 448., 3. / 70., 6. / 35.];
        for (got, expected) in first_score.share.to_array().into_iter().zip(expected) {
            assert_close(got, expected);
        }
        assert_close(largest(first_score), 53. / 112.);

        let second_score = Remaining::new(&available, &second);
        assert_eq!(second_score.horizon_ms, 8_000);
        let expected = [13. / 32., 43. / 128., 1. / 10., 1. / 20.];
        for (got, expected) in second_score.share.to_array().into_iter().zip(expected) {
            assert_close(got, expected);
        }
        assert_close(largest(second_score), 13. / 32.);
    }

    /// Elasecutor's Figure 5: the dominant remaining resource is the one of which the largest share
    /// remains, whichever that is.
    #[test]
    fn the_largest_share_decides_whichever_resource_it_is() {
        let capacity = Resources::from_array([16.0, 64.0, 10.0, 500.0]);
        let empty = Available::new(capacity, &[], 0);
        for dominant in Resource::ALL {
            let left = |resource| if resource == dominant { 0.5 } else { 0.25 };
            let used = Resources::from_array(Resource::ALL.map(|one| 1.0 - left(one)));
            let used = used.zip(capacity, |share, capacity| share * capacity);
            let demand = Demand::series(1_000, &[used]).unwrap();
            let node = Node::new(capacity);
            let place = Place {
                node: &node,
                available: &empty,
                booked: Resources::ZERO,
                now_ms: 0,
                rates: None,
            };
            let candidate = Candidate {
                demand: &demand,
                needed: &demand,
                request: Resources::ZERO,
                waiting: Waiting::default(),
            };
            assert_eq!(MinFrag::default().score(&place, &candidate), 0.5);
            assert_eq!(Trc::default().score(&place, &candidate), 0.5 + 3.0 * 0.25);
        }
    }

    #[test]
    fn both_executors_of_figure_6_fit() {
        let (available, first, second) = figure_6();
        assert_eq!(fit(&available, &first, 0.0), Ok(()));
        assert_eq!(fit(&available, &second, 0.0), Ok(()));
    }

    #[test]
    fn without_any_end_a_request_still_gets_a_score() {
        let empty = Available::new(Resources::from_array([4.0, 8.0, 0.0, 0.0]), &[], 0);
        let demand = Demand::for_life(Resources::from_array([1.0, 6.0, 0.0, 0.0])).unwrap();
        assert_close(largest(Remaining::new(&empty, &demand)), 0.75);
    }
}
