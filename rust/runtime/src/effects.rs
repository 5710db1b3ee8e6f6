//! What the methods of [`crate::Service`] give: answers, and what is to be saved.

use elastane_core::cluster::ApplicationId;
use elastane_core::reprovision::Reprovisioned;
use elastane_protocol::Reply;
use elastane_runs::{LedgerNews, Run, RunEvent, SubmissionRecord};

use crate::journal::Record;
use crate::report::Ingested;

/// An application that was submitted: its containers are to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// Its number from now on.
    pub application: ApplicationId,
    /// The record to be saved.
    pub record: SubmissionRecord,
    /// Whether no earlier process knew it.
    pub is_new: bool,
}

/// The answer to a commit.
#[derive(Debug)]
pub struct Committed {
    /// Whether the container may start.
    pub is_admitted: bool,
    /// For the journal.
    pub record: Option<Record>,
}

/// The answer to a report.
#[derive(Debug)]
pub struct Reported {
    /// For the agent.
    pub reply: Reply,
    /// What its samples gave.
    pub ingested: Ingested,
    /// Corrections of the node's containers.
    pub reprovisioned: Vec<Reprovisioned>,
    /// For the journal.
    pub records: Vec<Record>,
}

/// The records to be saved now.
#[derive(Debug)]
pub struct Due {
    /// Changes of running applications.
    pub checkpoint: Option<Vec<RunEvent>>,
    /// Runs whose last samples have arrived.
    pub ended: Vec<Run>,
    /// What was booked and used; at most once a minute.
    pub ledger: Option<LedgerNews>,
}
