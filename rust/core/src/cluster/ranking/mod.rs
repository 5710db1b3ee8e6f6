//! Whether a container fits a node, and which of those that fit goes first.

mod contest;
mod fit_filter;
mod prospect;
mod scores;
mod work_shares;

pub(crate) use contest::{Contender, Contest, Rank};
pub(crate) use fit_filter::FitFilter;
pub(crate) use prospect::{Judge, Prospect, finds_some_left};
pub(crate) use scores::Scores;
pub(crate) use work_shares::WorkShares;
