//! A submission as the depository records it.

use elastane_predict::{Submission, signature, signature_parts, submission_settings};
use elastane_runs::SubmissionRecord;

/// The record of a submission, with the key and the settings that it has.
pub fn submission_record(submission: &Submission, now_ms: i64) -> SubmissionRecord {
    SubmissionRecord {
        application_id: submission.id.clone(),
        application_key: signature(submission),
        application_name: submission.name.clone(),
        submitted_ms: now_ms,
        signature: signature_parts(submission),
        settings: submission_settings(submission).0,
    }
}
