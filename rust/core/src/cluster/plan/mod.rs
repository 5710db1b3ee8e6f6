//! Limits of running containers over time, and planned starts of waiting ones.

mod limits;
mod outlook;
mod planned_start;

pub use limits::{ContainerLimits, NodeLimits};
pub use outlook::{Outlook, StartNeeds};
pub(crate) use planned_start::{LifeNeeds, Starts, planned_start};
