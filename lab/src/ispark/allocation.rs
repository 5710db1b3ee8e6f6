//! How an application gets executors.

/// Who decides how many executors an application has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// The user: the same number from start to end.
    Static,
    /// Spark's dynamic allocation: as many as there is work for. It releases none, since each holds
    /// cached data and `cachedExecutorIdleTimeout` is infinite by default.
    Dynamic,
    /// iSpark: the user's, packed while they are used little.
    Packed,
}

impl Allocation {
    /// All allocations.
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
