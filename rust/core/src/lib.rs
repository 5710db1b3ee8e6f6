//! Resources over time, nodes, fit, policies and limit plans.
//!
//! This crate does no I/O, reads no clock and knows no JNI: callers pass `now` in Unix milliseconds. Fit
//! ([`fit`]) and score ([`by_plan`]) are computed in fixed point from the resources left on a node and the
//! needs of an executor. A [`policy::Policy`] ranks the applications that fit, and [`Cluster`] keeps the state.

mod amounts;
pub mod available;
pub mod by_plan;
pub mod cluster;
mod container_kind;
pub mod demand;
pub mod fit;
mod ids;
mod left;
mod left_ahead;
mod left_sums;
mod need;
pub mod node;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod reprovision;
pub mod resources;
pub mod running;
mod stages;
mod timeline;
mod windows;

pub use available::Available;
pub use cluster::{Cluster, ClusterSettings};
pub use container_kind::ContainerKind;
pub use demand::{Demand, DemandError};
pub use node::Node;
pub use progress::{Progress, ProgressError};
pub use resources::{Resource, Resources};
pub use running::Running;
pub use stages::{StageEnds, StageEndsError, StagesDone};

/// The length of one slot of a demand and of one closed sample, in milliseconds.
pub const SLOT_MS: u32 = 3_000;

/// The slot of a time, counted from the epoch.
pub(crate) fn slot_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(i64::from(SLOT_MS))
}

/// The start of a slot counted from the epoch, or of a slot counted from another time.
pub(crate) fn slot_start_ms(slot: i64) -> i64 {
    slot.saturating_mul(i64::from(SLOT_MS))
}
