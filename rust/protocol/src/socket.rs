//! The messages on the Unix socket between NodeManager and agent. Every request gets one response.

use serde::{Deserialize, Serialize};

use crate::{Reply, Report};

/// From the NodeManager to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AgentRequest {
    /// All running containers. A container that is not listed has ended.
    Containers(Vec<RunningContainer>),
    /// Report the samples that were not acknowledged.
    Collect,
    /// Follow this plan from now on.
    Apply(Reply),
}

/// From the agent to the NodeManager.
#[allow(clippy::large_enum_variant)] // short-lived, and one at a time
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AgentResponse {
    /// The request was carried out.
    Done,
    /// Answers [`AgentRequest::Collect`].
    Report(Report),
    /// Why the request was not carried out.
    Refused(String),
}

/// A container and the root of its process tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningContainer {
    /// YARN's container id, as `ContainerId.toString` prints it.
    pub container: String,
    /// The pid that the container executor reports: the root of the process tree.
    pub pid: u32,
    /// The requested memory, in bytes.
    pub request_memory_bytes: u64,
}
