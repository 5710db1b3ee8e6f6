//! Resources over time, nodes, fit, policies and limit plans.
//!
//! Nothing here does I/O, knows a clock or JNI: `now` is always given, in Unix milliseconds. A node
//! ([`node::Node`]) yields what is left on it over time ([`available::Available`]); a
//! [`demand::Demand`] fits it or not ([`fit`]), and a [`policy::Policy`] scores what fits.

mod amounts;
pub mod available;
pub mod by_plan;
pub mod cluster;
mod container_kind;
pub mod delay;
pub mod demand;
pub mod fit;
mod left;
mod need;
pub mod node;
pub mod plan;
pub mod policy;
pub mod progress;
pub mod reprovision;
pub mod resources;
pub mod running;
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

/// The length of one slot of a demand and of one closed sample, in milliseconds.
pub const SLOT_MS: u32 = 3_000;

/// The slot that a moment lies in, counted from the epoch.
pub(crate) fn slot_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(i64::from(SLOT_MS))
}
