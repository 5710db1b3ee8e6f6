//! The allocations of executors.

/// How the number of executors of an application is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// By the user: constant from start to end.
    Static,
    /// Spark's dynamic allocation: as many executors as the work needs. It releases none, since each
    /// holds cached data and `cachedExecutorIdleTimeout` is infinite by default.
    Dynamic,
    /// iSpark: the user's number, packed while their utilization is low.
    Packed,
}

impl Allocation {
    /// In the order of reports.
    pub const ALL: [Allocation; 3] = [Allocation::Static, Allocation::Dynamic, Allocation::Packed];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Allocation::Static => "static",
            Allocation::Dynamic => "dynamic",
            Allocation::Packed => "ispark",
        }
    }
}
