//! What NodeManager and agent say over the Unix socket. Every request gets one response.

use serde::{Deserialize, Serialize};

use crate::{Reply, Report};

/// From the NodeManager to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AgentRequest {
    /// All containers that run now; those that are not in the list are gone.
    Containers(Vec<RunningContainer>),
    /// Make a report of what was not acknowledged yet.
    Collect,
    /// Follow this plan from now on.
    Apply(Reply),
}

/// From the agent to the NodeManager.
#[allow(clippy::large_enum_variant)] // one at a time, made to be sent at once
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AgentResponse {
    /// The request was carried out.
    Done,
    /// Answers [`AgentRequest::Collect`].
    Report(Report),
    /// The request was not carried out, and why.
    Refused(String),
}

/// A container and where its process tree begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningContainer {
    /// YARN's container id, as `ContainerId.toString` prints it.
    pub container: String,
    /// The pid that the container executor reports: the root of the process tree.
    pub pid: u32,
    /// The memory that it asked for, in bytes.
    pub request_memory_bytes: u64,
}
