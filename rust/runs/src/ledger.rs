//! What applications booked and used, in sums over the hours of a clock.

use std::ops::AddAssign;
use std::sync::Arc;

use crate::submission::SubmissionRecord;

/// An hour of the Unix time.
pub const HOUR_MS: i64 = 3_600_000;

/// Names may have any length.
const LONGEST_NAME: usize = 256;

/// The seconds of an hour.
pub const HOUR_S: f64 = 3_600.0;

/// A GB as YARN counts: 1,024 MB.
pub const GB: f64 = (1_u64 << 30) as f64;

/// One application in one queue and one hour, or what is to be added to it.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// Whose it is; many entries share it.
    pub subject: Arc<LedgerSubject>,
    /// When the hour began, in Unix milliseconds.
    pub hour_ms: i64,
    /// The amounts.
    pub sums: LedgerSums,
}

/// Who booked something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerSubject {
    /// YARN's application id.
    pub application_id: String,
    /// The queue that it was in.
    pub queue: String,
    /// The key of the application's signature.
    pub application_key: String,
    /// The beginning of the name as it was submitted.
    pub application_name: String,
    /// Who submitted it.
    pub user: String,
}

impl LedgerSubject {
    /// Of a submission by this user to this queue.
    pub fn of(submission: &SubmissionRecord, user: &str, queue: &str) -> Self {
        Self {
            application_id: submission.application_id.clone(),
            queue: queue.to_owned(),
            application_key: submission.application_key.clone(),
            application_name: submission.application_name.chars().take(LONGEST_NAME).collect(),
            user: user.to_owned(),
        }
    }
}

/// Amounts times seconds, of all containers of an application.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LedgerSums {
    /// The number of containers that were committed, also those that CapacityScheduler then did not start.
    pub containers: u64,
    /// By request, in virtual cores times seconds.
    pub booked_vcore_s: f64,
    /// By request, in bytes times seconds.
    pub booked_byte_s: f64,
    /// What of `booked_vcore_s` is of the time that agents measured.
    pub measured_vcore_s: f64,
    /// What of `booked_byte_s` is of the time that agents measured.
    pub measured_byte_s: f64,
    /// Used in that time, in CPU cores times seconds.
    pub used_core_s: f64,
    /// Used in that time, in bytes times seconds.
    pub used_byte_s: f64,
    /// `booked_vcore_s` at the price of its time.
    pub core_cost: f64,
    /// `booked_byte_s` at the price of its time.
    pub memory_cost: f64,
    /// The largest request of an executor for memory.
    pub largest_request_bytes: u64,
    /// The most memory that an executor used.
    pub largest_use_bytes: u64,
}

impl AddAssign for LedgerSums {
    fn add_assign(&mut self, other: Self) {
        self.containers += other.containers;
        self.booked_vcore_s += other.booked_vcore_s;
        self.booked_byte_s += other.booked_byte_s;
        self.measured_vcore_s += other.measured_vcore_s;
        self.measured_byte_s += other.measured_byte_s;
        self.used_core_s += other.used_core_s;
        self.used_byte_s += other.used_byte_s;
        self.core_cost += other.core_cost;
        self.memory_cost += other.memory_cost;
        self.largest_request_bytes = self.largest_request_bytes.max(other.largest_request_bytes);
        self.largest_use_bytes = self.largest_use_bytes.max(other.largest_use_bytes);
    }
}

/// The nodes in one hour, or what is to be added to it: amounts times seconds, of all nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NodesHour {
    /// When the hour began, in Unix milliseconds.
    pub hour_ms: i64,
    /// Nodes times seconds.
    pub node_s: f64,
    /// Registered virtual cores.
    pub physical_vcore_s: f64,
    /// Registered memory.
    pub physical_byte_s: f64,
    /// What was booked of memory.
    pub booked_byte_s: f64,
    /// What was booked of virtual cores above what a node registered.
    pub above_vcore_s: f64,
    /// What was booked of memory above what a node registered.
    pub above_byte_s: f64,
}

impl AddAssign for NodesHour {
    /// The hour stays.
    fn add_assign(&mut self, other: Self) {
        self.node_s += other.node_s;
        self.physical_vcore_s += other.physical_vcore_s;
        self.physical_byte_s += other.physical_byte_s;
        self.booked_byte_s += other.booked_byte_s;
        self.above_vcore_s += other.above_vcore_s;
        self.above_byte_s += other.above_byte_s;
    }
}

/// What is to be added to the ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LedgerNews {
    /// Two of one application, queue and hour are to be added up.
    pub applications: Vec<LedgerEntry>,
    /// At most one for each hour.
    pub nodes: Vec<NodesHour>,
}
