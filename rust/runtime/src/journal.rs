//! What was decided, as records that a person can be shown.

use serde::Serialize;

use elastane_core::Resources;

/// One line of the journal.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Record {
    /// A container was committed.
    Placed(Box<Placed>),
    /// A container was not committed, because the core refused it.
    Refused {
        /// Unix time in milliseconds.
        time_ms: i64,
        /// YARN's application id.
        application: String,
        /// YARN's node.
        node: String,
        /// Which resource lacks, by how much, from when on.
        reason: String,
    },
    /// A container ended.
    Finished {
        /// Unix time in milliseconds.
        time_ms: i64,
        /// YARN's container id.
        container: String,
        /// YARN's node.
        node: String,
    },
    /// The bookable capacity of a node changed.
    Bookable {
        /// Unix time in milliseconds.
        time_ms: i64,
        /// YARN's node.
        node: String,
        /// Bookable over registered.
        ratio: f64,
        /// Why.
        reason: &'static str,
    },
    /// A node's agent reported (only where `journal.usage` is set).
    Node(Box<NodeUsage>),
    /// A run was kept, and what the profile is made of now.
    Learned {
        /// Unix time in milliseconds.
        time_ms: i64,
        /// YARN's application id.
        application: String,
        /// The key of the profile.
        profile: String,
        /// `succeeded`, `failed` or `cut-off`.
        outcome: &'static str,
        /// How many runs the profile is made of; 0 when there is none.
        runs: usize,
    },
}

/// A container that was committed.
#[derive(Debug, Clone, Serialize)]
pub struct Placed {
    /// Unix time in milliseconds.
    pub time_ms: i64,
    /// YARN's application id.
    pub application: String,
    /// The submitter's name for it.
    pub application_name: String,
    /// YARN's container id.
    pub container: String,
    /// YARN's node.
    pub node: String,
    /// `fits`, `starving`, `capacity-scheduler` or `not-asked`.
    pub reason: &'static str,
    /// Whether the core decided.
    pub by_core: bool,
    /// Whether it is the application master.
    pub application_master: bool,
    /// The key of the profile that its demand comes from; none when it is its request.
    pub profile: Option<String>,
    /// The policy's score, where the core decided.
    pub score: Option<f64>,
    /// What was asked for, in bytes.
    pub memory_bytes: u64,
    /// What was asked for.
    pub vcores: u32,
    /// The sum of the requests on the node, this one included, in bytes.
    pub booked_memory_bytes: u64,
    /// The sum of the requests on the node, this one included.
    pub booked_vcores: u32,
    /// What the node registered, in bytes.
    pub physical_memory_bytes: u64,
    /// What the node registered.
    pub physical_vcores: u32,
}

/// What a node used and was planned to use.
#[derive(Debug, Clone, Serialize)]
pub struct NodeUsage {
    /// Unix time in milliseconds.
    pub time_ms: i64,
    /// YARN's node.
    pub node: String,
    /// Measured over all containers.
    pub used: Amounts,
    /// Expected over all containers.
    pub planned: Amounts,
    /// The node's own size.
    pub physical: Amounts,
    /// The sum of the requests, in bytes.
    pub booked_memory_bytes: u64,
    /// The sum of the requests.
    pub booked_vcores: u32,
    /// Each container that was measured.
    pub containers: Vec<ContainerUsage>,
}

/// What a container used and was planned to use.
#[derive(Debug, Clone, Serialize)]
pub struct ContainerUsage {
    /// YARN's container id.
    pub container: String,
    /// Measured in the newest sample.
    pub used: Amounts,
    /// Expected now.
    pub planned: Amounts,
    /// The weight in force, in cores.
    pub limit_weight_cores: Option<f32>,
    /// The cap in force, in cores.
    pub limit_cap_cores: Option<f32>,
}

/// An amount of each resource.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Amounts {
    /// CPU in cores.
    pub cpu_cores: f64,
    /// Memory in bytes.
    pub memory_bytes: f64,
    /// Network in bytes per second.
    pub network_bytes_per_s: f64,
    /// Disk in bytes per second.
    pub disk_bytes_per_s: f64,
}

impl From<Resources> for Amounts {
    fn from(resources: Resources) -> Self {
        let Resources {
            cpu_cores,
            memory_bytes,
            network_bytes_per_s,
            disk_bytes_per_s,
        } = resources;
        Self {
            cpu_cores,
            memory_bytes,
            network_bytes_per_s,
            disk_bytes_per_s,
        }
    }
}
