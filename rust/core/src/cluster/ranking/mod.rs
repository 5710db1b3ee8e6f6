//! Fit and rank of the waiting containers on one node.

mod contest;
mod fit_filter;
mod known_row;
mod prospect;
mod scores;
mod work_shares;

pub(crate) use contest::{Contender, Contest, Rank, Urgency};
pub(crate) use fit_filter::FitFilter;
pub(crate) use known_row::score_if_known_to_fit;
pub(crate) use prospect::{Judge, Prospect};
pub(crate) use scores::Scores;
pub(crate) use work_shares::WorkShares;
