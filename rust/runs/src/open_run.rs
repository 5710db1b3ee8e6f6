//! Runs that have not been saved yet, and their changes.

use std::sync::Arc;

use elastane_core::ContainerKind;

use crate::recorder::RunRecorder;
use crate::run::{Outcome, Run};
use crate::sample::ContainerSample;

/// A change of a run that has not been saved yet.
#[derive(Debug, Clone, PartialEq)]
pub enum RunEvent {
    /// A container was sampled, see [`RunRecorder::add`].
    Sampled {
        /// YARN's application id.
        application_id: Arc<str>,
        /// YARN's container id.
        container: Arc<str>,
        /// The container's kind.
        kind: ContainerKind,
        /// Its next sample.
        sample: ContainerSample,
    },
    /// Stages of the application ended, see [`RunRecorder::stages_ended`].
    StagesEnded {
        /// YARN's application id.
        application_id: Arc<str>,
        /// YARN's container id.
        container: Arc<str>,
        /// The number of stages that have ended.
        stages: u32,
        /// When the latest of them ended, since the container's start.
        since_start_ms: i64,
    },
    /// A part of the run was not seen.
    CutOff {
        /// YARN's application id.
        application_id: String,
    },
    /// The application ended; its last samples may still arrive.
    Ended {
        /// YARN's application id.
        application_id: String,
        /// In Unix milliseconds.
        ended_ms: i64,
        /// How it ended.
        outcome: Outcome,
    },
    /// The whole state of the run so far, which has just begun perhaps; it replaces everything that is
    /// saved of the run.
    Whole(Box<OpenRun>),
    /// Nothing of the run is to be kept.
    Dropped {
        /// YARN's application id.
        application_id: String,
    },
}

/// A run that has not been saved: its application runs, or its last samples are on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRun {
    /// YARN's application id.
    pub application_id: String,
    /// The key of its signature.
    pub application_key: String,
    /// The name as it was submitted.
    pub application_name: String,
    /// In Unix milliseconds.
    pub started_ms: i64,
    /// In Unix milliseconds, where it ended and was not saved.
    pub ended_ms: Option<i64>,
    /// How it ended; succeeded while nothing else is known.
    pub outcome: Outcome,
    /// When its samples were last saved, in Unix milliseconds.
    pub sampled_ms: i64,
    /// The samples so far.
    pub recorder: RunRecorder,
}

impl OpenRun {
    /// A run that begins now, without its names.
    pub fn begun(now_ms: i64) -> Self {
        Self {
            application_id: String::new(),
            application_key: String::new(),
            application_name: String::new(),
            started_ms: now_ms,
            ended_ms: None,
            outcome: Outcome::Succeeded,
            sampled_ms: now_ms,
            recorder: RunRecorder::new(),
        }
    }

    /// The run as it is known so far.
    pub fn into_run(self) -> Run {
        Run {
            application_key: self.application_key,
            application_id: self.application_id,
            application_name: self.application_name,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms.unwrap_or(self.sampled_ms),
            outcome: self.outcome,
            series: self.recorder.series(),
        }
    }
}
