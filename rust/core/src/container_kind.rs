//! Kinds of containers.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a container. Containers of one kind are assumed to be alike; each kind has its own profiles.
///
/// Its number in files is 0 for an application master, and 1 plus the priority in two's complement for
/// an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "i64", try_from = "i64")]
pub enum ContainerKind {
    /// The application master; with Spark in cluster mode the driver too.
    ApplicationMaster,
    /// Any other container, by the priority of its request: Spark uses one priority for each
    /// resource profile, MapReduce one for maps and one for reduces.
    Executor {
        /// YARN's priority of the request, not of the application.
        priority: i32,
    },
}

impl ContainerKind {
    /// An executor of Spark's default resource profile, and any executor where priorities are unknown.
    pub const DEFAULT_EXECUTOR: ContainerKind = ContainerKind::Executor { priority: 0 };

    /// Whether this is the application master.
    pub fn is_application_master(self) -> bool {
        self == ContainerKind::ApplicationMaster
    }

    /// Whether it is another one.
    pub fn is_executor(self) -> bool {
        !self.is_application_master()
    }

    /// The word in reports, whatever the priority.
    pub fn name(self) -> &'static str {
        match self {
            ContainerKind::ApplicationMaster => "application master",
            ContainerKind::Executor { .. } => "executor",
        }
    }

    /// The priority of the request; an application master has none.
    pub fn priority(self) -> Option<i32> {
        match self {
            ContainerKind::ApplicationMaster => None,
            ContainerKind::Executor { priority } => Some(priority),
        }
    }

    /// The name beside these kinds: an executor's priority is included if there are executors of
    /// another priority.
    pub fn among(self, kinds: impl IntoIterator<Item = ContainerKind>) -> String {
        let is_other = |kind: ContainerKind| kind != self && !kind.is_application_master();
        if kinds.into_iter().any(is_other) { self.to_string() } else { self.name().to_owned() }
    }
}

impl From<ContainerKind> for i64 {
    fn from(kind: ContainerKind) -> Self {
        match kind {
            ContainerKind::ApplicationMaster => 0,
            ContainerKind::Executor { priority } => 1 + i64::from(priority.cast_unsigned()),
        }
    }
}

impl TryFrom<i64> for ContainerKind {
    type Error = String;

    fn try_from(number: i64) -> Result<Self, String> {
        if number == 0 {
            return Ok(ContainerKind::ApplicationMaster);
        }
        let priority = number.checked_sub(1).and_then(|priority| u32::try_from(priority).ok());
        let unknown = || format!("container kind {number} is not known");
        Ok(ContainerKind::Executor { priority: priority.ok_or_else(unknown)?.cast_signed() })
    }
}

impl fmt::Display for ContainerKind {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContainerKind::ApplicationMaster => to.write_str(self.name()),
            ContainerKind::Executor { priority } => write!(to, "executor of priority {priority}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASTER: ContainerKind = ContainerKind::ApplicationMaster;

    fn executor(priority: i32) -> ContainerKind {
        ContainerKind::Executor { priority }
    }

    #[test]
    fn kinds_have_distinct_numbers_and_the_first_two_are_fixed() {
        assert_eq!([MASTER, executor(0)].map(i64::from), [0, 1]);
        for priority in [0, 1, 20, i32::MAX, -1, i32::MIN] {
            let kind = executor(priority);
            assert_eq!(ContainerKind::try_from(i64::from(kind)), Ok(kind));
        }
        assert_eq!(ContainerKind::try_from(0), Ok(MASTER));
        for number in [i64::MIN, -1, (1 << 32) + 1, i64::MAX] {
            ContainerKind::try_from(number).unwrap_err();
        }
    }

    #[test]
    fn a_name_includes_the_priority_if_there_are_other_priorities() {
        assert_eq!(executor(2).among([MASTER, executor(2)]), "executor");
        let several = [MASTER, executor(0), executor(2)];
        assert_eq!(executor(2).among(several), "executor of priority 2");
        assert_eq!(MASTER.among(several), "application master");
    }
}
