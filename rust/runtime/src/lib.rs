//! Core, predictions and depository put together.
//!
//! [`Service`] takes events and reports with the time at which they happened, and gives decisions and
//! effects. It does no I/O, reads no clock and has no threads; a simulator can drive it. [`Elastane`]
//! is the service in production, with its files and threads: no heartbeat waits for a disk.

mod accounts;
mod adviser;
mod amounts;
mod backoff;
mod counters;
mod deadlines;
mod decisions;
mod depository;
mod drains;
mod effects;
mod elastane;
mod first_asks;
mod foresight;
mod giving_way;
mod journal;
mod latest_reports;
mod ledger;
mod limit_changes;
mod measured;
mod measured_container;
mod memory_victims;
mod migrations;
mod node_cpu;
mod open_error;
mod past;
mod progress;
mod questions;
mod refusals;
mod report;
mod reprovisioning;
mod runs;
mod service;
mod service_lock;
mod settings;
mod start_planner;
mod starts;
mod status;
mod submission;
mod use_history;
mod writer;
mod yarn_ids;

pub use crate::counters::Health;
pub use crate::depository::SharingError;
pub use crate::elastane::Elastane;
pub use crate::elastane::ask_details::AskDetails;
pub use crate::elastane::preempted::{PreemptionEvent, record_preemption};
pub use adviser::Advise;
pub use amounts::AmountError;
pub use deadlines::Deadline;
pub use effects::{Committed, Due, Reported, Submitted};
pub use elastane_store::MergeReport;
pub use foresight::Foresight;
pub use journal::{
    CapacityPreemption, CapacityPreemptionCause, CapacityPreemptionOutcome, ConsideredApplication,
    DeadlineNews, DeadlineState, JournalEvent, MemoryPreemption, Migration, MigrationCause,
    MigrationState, Placed, Preemption, PreemptionOutcome, Record, Refused, Reprovision,
};
pub use ledger::Prices;
pub use memory_victims::PreemptionOrder;
pub use open_error::OpenError;
pub use past::{PastApplication, PastCluster, PastContainer, PastNode};
pub use report::{Ingested, ReportError};
pub use service::{FirstAsk, Service};
pub use settings::{RuntimeSettings, ServiceSettings, SettingsError};
pub use status::{ServiceStatus, StatusSnapshot};
pub use submission::submission_record;
pub use yarn_ids::application_of;
