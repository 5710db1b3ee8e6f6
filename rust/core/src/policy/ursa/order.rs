//! Ursa's orders of jobs.

use crate::policy::Waiting;
use crate::policy::by_request::seconds_since;
use crate::resources::Resource;

/// W: the weight of a second of waiting, or of SRJF's rank, beside F, which is at most 1 for each resource.
pub(super) const WEIGHT: f64 = 1.0;

/// Ursa's two orders of jobs (EuroSys 2020, section 4.2.2); the higher rank goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobOrder {
    /// EJF: the rank is the time since submission, in seconds.
    EarliestFirst,
    /// SRJF: with R the remaining work of the job and L that of all jobs, the rank is the inverse
    /// of `(2L − R) · R`, normalized by L: `1 ÷ Σ over r of (2 − x_r) · x_r` over CPU, network and
    /// disk, where x_r is R_r ÷ L_r. The inverse is the amount by which L² falls when the job is
    /// done. A job of unknown remaining work counts as all work.
    SmallestRemainingFirst,
}

impl JobOrder {
    pub(super) fn rank(self, waiting: &Waiting, now_ms: i64) -> f64 {
        match self {
            JobOrder::EarliestFirst => seconds_since(waiting.submitted_ms, now_ms),
            JobOrder::SmallestRemainingFirst => {
                let lost: f64 = Resource::FLOWS
                    .into_iter()
                    .map(|resource| waiting.remaining_share.map_or(1.0, |all| all.get(resource)))
                    .map(|share| (2.0 - share) * share)
                    .sum();
                1.0 / lost.max(f64::EPSILON)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::Resources;

    fn srjf(shares: Option<[f64; 4]>) -> f64 {
        let waiting =
            Waiting { remaining_share: shares.map(Resources::from_array), ..Waiting::default() };
        JobOrder::SmallestRemainingFirst.rank(&waiting, 0)
    }

    #[test]
    fn ejf_ranks_by_the_time_since_submission() {
        let waiting = Waiting { submitted_ms: 1_000, queued_ms: 9_000, ..Waiting::default() };
        assert_eq!(JobOrder::EarliestFirst.rank(&waiting, 11_000), 10.0);
    }

    #[test]
    fn srjf_is_the_inverse_of_the_fall_of_the_squared_load() {
        // (2L − R) · R ÷ L² with L = 8 and R = 2: 28 ÷ 64.
        assert_eq!(srjf(Some([0.25, 0.0, 0.0, 0.0])), 64.0 / 28.0);
        // Both resources count.
        assert_eq!(srjf(Some([0.5, 0.0, 1.0, 0.0])), 1.0 / 1.75);
        // Memory is held and is no work.
        assert_eq!(srjf(Some([0.5, 1.0, 1.0, 0.0])), 1.0 / 1.75);
    }

    #[test]
    fn srjf_ranks_less_remaining_work_higher_and_unknown_work_lowest() {
        assert!(srjf(Some([0.1; 4])) > srjf(Some([0.2; 4])));
        assert!(srjf(Some([0.9; 4])) > srjf(None));
        assert!(srjf(Some([0.0; 4])).is_finite());
    }
}
