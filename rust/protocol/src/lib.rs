//! The messages between the agent and the core. `docs/boundary.md` is normative.
//!
//! The Unix socket between NodeManager and agent carries [`AgentRequest`] and [`AgentResponse`] as
//! [`frame`]s. The Hadoop IPC between NodeManager and ResourceManager carries a [`Report`] up and a
//! [`Reply`] down, each as an opaque body with a version number.

mod body;
pub mod frame;
mod plan;
mod previous;
mod report;
mod socket;

pub use body::{BodyError, decode, encode};
pub use plan::{ContainerPlan, Limits, Reply, Step};
pub use previous::{PREVIOUS_VERSION, decode_report};
pub use report::{
    CanLimit, Capacity, ContainerSamples, DecommissionOutcome, Decommissioned, MemoryVictim,
    Pressure, Report, Sample, StageProgress, Usage,
};
pub use socket::{AgentRequest, AgentResponse, RunningContainer};

/// The version of all types in this crate. Both sides refuse any other, except that the core also reads a report of
/// [`PREVIOUS_VERSION`].
pub const VERSION: u16 = 5;

/// The largest body, and the largest frame on the socket, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;
