//! The settings of one run.

use std::collections::BTreeMap;

use elastane_core::ContainerKind;
use serde::{Deserialize, Serialize};

/// The number of executors that the application master asks for first.
pub const EXECUTORS: &str = "executors";

/// The virtual cores of one of them.
pub const EXECUTOR_CORES: &str = "executor_cores";

/// The memory of one of them.
pub const EXECUTOR_MEMORY_BYTES: &str = "executor_memory_bytes";

/// The settings that are known only once the application master asks for executors.
pub const AT_FIRST_ASK: [&str; 3] = [EXECUTORS, EXECUTOR_CORES, EXECUTOR_MEMORY_BYTES];

/// The settings that one run was given, by name: `executors`, `input_bytes`, `--iterations`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunSettings(pub BTreeMap<String, f64>);

impl RunSettings {
    /// Whether every setting that both have is equal.
    pub fn agree(&self, other: &Self) -> bool {
        let known = |(name, value): (&String, &f64)| other.0.get(name).is_none_or(|it| it == value);
        self.0.iter().all(known)
    }
    /// The settings that are known when a container of this kind starts: an application master
    /// starts before it asks for executors.
    pub fn known_to(&self, kind: ContainerKind) -> Self {
        let mut settings = self.clone();
        if kind == ContainerKind::ApplicationMaster {
            let names = &mut settings.0;
            names.retain(|name, _| !AT_FIRST_ASK.contains(&name.as_str()));
        }
        settings
    }
}
