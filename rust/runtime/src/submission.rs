//! What a submission says: as the depository records it, and in its tags.

use elastane_predict::{
    Submission, is_observed_by_tag, signature, signature_parts, submission_settings,
};
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

/// Whether the submitter wants the application in observe.
pub(crate) fn wants_observe(submission: &Submission) -> bool {
    let (is_observed, bad) = is_observed_by_tag(&submission.tags);
    for bad in bad {
        log::warn!("{}: {bad}", submission.id);
    }
    is_observed
}
