//! What is planned on a node: limits over time, and when a container can start.

mod limits;
mod planned_start;
mod starts;

pub(crate) use limits::limit_plans;
pub(crate) use planned_start::planned_start;
pub(crate) use starts::Starts;
