//! What a container is for.

use std::fmt;

/// What a container is for. Those of one kind are taken as alike; each kind has profiles of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContainerKind {
    /// The application master; with Spark in cluster mode the driver too.
    ApplicationMaster,
    /// Any other container, by the priority of the request that it was allocated for: Spark asks for
    /// each resource profile at the priority of its id, MapReduce for maps and reduces at two.
    Executor {
        /// YARN's priority of the request, not of the application.
        priority: i32,
    },
}

impl ContainerKind {
    /// Of Spark's default resource profile; where nothing is known of priorities, of any executor.
    pub const DEFAULT_EXECUTOR: ContainerKind = ContainerKind::Executor { priority: 0 };

    /// Whether it is the application master.
    #[must_use]
    pub fn is_application_master(self) -> bool {
        self == ContainerKind::ApplicationMaster
    }

    /// The word that reports use, whatever the priority.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ContainerKind::ApplicationMaster => "application master",
            ContainerKind::Executor { .. } => "executor",
        }
    }

    /// The priority of the request; an application master has none.
    #[must_use]
    pub fn priority(self) -> Option<i32> {
        match self {
            ContainerKind::ApplicationMaster => None,
            ContainerKind::Executor { priority } => Some(priority),
        }
    }

    /// The words for it where these kinds are spoken of: an executor's priority is said where there
    /// are others.
    #[must_use]
    pub fn among(self, kinds: impl IntoIterator<Item = ContainerKind>) -> String {
        let is_other = |it: ContainerKind| it != self && !it.is_application_master();
        if kinds.into_iter().any(is_other) {
            self.to_string()
        } else {
            self.name().to_owned()
        }
    }

    /// Its number in files: 0 for an application master, 1 and the priority in two's complement for
    /// an executor.
    #[must_use]
    pub fn number(self) -> i64 {
        match self {
            ContainerKind::ApplicationMaster => 0,
            ContainerKind::Executor { priority } => 1 + i64::from(priority.cast_unsigned()),
        }
    }

    /// The kind with this number in files; none where there is no such number.
    #[must_use]
    pub fn numbered(number: i64) -> Option<ContainerKind> {
        if number == 0 {
            return Some(ContainerKind::ApplicationMaster);
        }
        let priority = u32::try_from(number.checked_sub(1)?).ok()?;
        Some(ContainerKind::Executor {
            priority: priority.cast_signed(),
        })
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
    fn every_kind_has_a_number_of_its_own_and_the_first_ones_never_change() {
        assert_eq!((MASTER.number(), executor(0).number()), (0, 1));
        for priority in [0, 1, 20, i32::MAX, -1, i32::MIN] {
            let kind = executor(priority);
            assert_eq!(ContainerKind::numbered(kind.number()), Some(kind));
        }
        assert_eq!(ContainerKind::numbered(0), Some(MASTER));
        for number in [i64::MIN, -1, (1 << 32) + 1, i64::MAX] {
            assert_eq!(ContainerKind::numbered(number), None);
        }
    }

    #[test]
    fn a_priority_is_said_where_there_are_executors_of_others() {
        assert_eq!(executor(2).among([MASTER, executor(2)]), "executor");
        let several = [MASTER, executor(0), executor(2)];
        assert_eq!(executor(2).among(several), "executor of priority 2");
        assert_eq!(MASTER.among(several), "application master");
    }
}
