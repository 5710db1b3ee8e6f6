//! A submission as it is recorded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A submission, without the arguments that may hold secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct SubmissionRecord {
    /// YARN's application id.
    pub application_id: String,
    /// The key of its signature.
    pub application_key: String,
    /// The name as it was submitted.
    pub application_name: String,
    /// When, in Unix milliseconds.
    pub submitted_ms: i64,
    /// The parts of the key.
    pub signature: Vec<SignaturePart>,
    /// What may differ between runs of one application, by name: numbers in the arguments,
    /// executors, cores, memory.
    pub settings: BTreeMap<String, f64>,
}

/// One part of a key, and the submitted text that it stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignaturePart {
    /// `tag`, `shared`, `type`, `user`, `queue`, `name`, `main` or `argument`.
    pub part: String,
    /// As it was submitted; none where that may hold a secret and is not kept.
    pub submitted: Option<String>,
    /// As it is in the key.
    pub in_key: String,
}
