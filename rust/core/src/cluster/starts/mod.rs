//! The plan of starts: on which node and when the first waiting containers start.
//!
//! Once a second the containers of the first applications are placed, in the order of their queues and the
//! policy, each on the node on which it starts first beside what runs and what was placed before it. A container
//! that starts later claims its part of the node over time: one that goes behind it in its queue may go to that
//! node only if it delays no claim. This is conservative backfilling (Mu'alem and Feitelson, IEEE TPDS 12(6),
//! 2001) for the first applications, with demands over time instead of processors.
//!
//! The search reads a copy, so that no heartbeat waits for it: [`StartSearch::of`] takes the copy,
//! [`StartSearch::run`] needs no cluster, and [`StartPlan::put_into`] makes the result count.

mod claims;
mod copy;
mod planner;
mod search;

pub(crate) use claims::{Claim, ClaimsOnNode};
pub(crate) use planner::StartPlanner;
pub use planner::{PlannedStart, StartPlan, plan_starts, read_by_planning};
pub(crate) use search::LATE_PART;
pub use search::StartSearch;
