//! The reasons for changes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a limit, a JVM or a container changed. The audit file and the status have the names in
/// snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A step of the plan began.
    PlanStep,
    /// The plan is unchanged; a memory limit follows the resident memory.
    FollowsUse,
    /// The newest plan has no entry for the container.
    NotInPlan,
    /// The plan ran out before the next one arrived.
    PlanEnded,
    /// The container has ended.
    ContainerGone,
    /// A killed agent had left the limit behind.
    LeftBehind,
    /// The agent is stopping.
    AgentStops,
    /// A JVM did not return enough memory in time: the limit stays above the planned one.
    HeapStays,
    /// The node is short of memory: JVMs are asked to return some.
    NodeShort,
    /// The node is no longer short of memory: JVMs are restored.
    NodeNotShort,
    /// The node is short of memory: the ResourceManager is told that the container should give way.
    Named,
    /// The node was short of memory for too long: the container was killed.
    Killed,
    /// The ResourceManager ordered that the container's Spark executor leaves by itself; the outcome says whether it will.
    DecommissionOrdered,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// The shortage of memory for which a container gives way.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shortfall {
    /// Of the container.
    pub resident_bytes: u64,
    /// Of the node, below its floor.
    pub short_bytes: u64,
    /// Of the node.
    pub available_bytes: u64,
}

impl fmt::Display for Shortfall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "the node has {} bytes available, {} below its floor; the container holds {} bytes and \
             started after the requests of older containers had filled the node",
            self.available_bytes, self.short_bytes, self.resident_bytes
        )
    }
}
