//! How an application comes by executors.

/// Who decides how many executors an application has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// The user: all of them from the start to the end.
    Static,
    /// Spark's dynamic allocation: as many as there is work for. It gives none back, as each holds
    /// cached data (`cachedExecutorIdleTimeout` is endless by default).
    Dynamic,
    /// iSpark: the user's, packed while they are used little.
    Packed,
}

impl Allocation {
    /// All of them.
    pub const ALL: [Allocation; 3] = [Allocation::Static, Allocation::Dynamic, Allocation::Packed];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Allocation::Static => "static",
            Allocation::Dynamic => "dynamic",
            Allocation::Packed => "ispark",
        }
    }
}
