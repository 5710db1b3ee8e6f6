//! What is asked of a JVM, and what comes of it.

use std::time::Instant;

use parking_lot::Mutex;

use super::{
    attach_error::AttachError,
    backoff::Backoff,
    command::JvmCommand,
    control::{Control, ControlError, Former},
    recipe::Wish,
};
use crate::sensors::ProcessKey;

#[derive(Debug)]
pub struct JvmJob {
    pub control: Control,
    pub task: JvmTask,
}

#[derive(Debug, Clone)]
pub enum JvmTask {
    /// Read the flags before the first wish.
    Remember,
    CarryOut {
        wish: Wish,
        /// The remembered flags of this JVM.
        former: Former,
    },
}

#[derive(Debug)]
pub enum JvmAnswer {
    /// To be kept as long as the JVM runs.
    Remembered(Former),
    /// The wish and the commands sent for it.
    CarriedOut(Wish, Vec<JvmCommand>),
}

/// A job that has ended.
#[derive(Debug)]
pub struct Done {
    pub jvm: ProcessKey,
    pub result: Result<JvmAnswer, ControlError>,
}

/// Does jobs, and leaves a JVM that failed alone for a while.
#[derive(Debug, Default)]
pub struct Attempts {
    backoff: Mutex<Backoff>,
}

impl Attempts {
    /// Waits for the JVM.
    pub fn make(&self, job: &JvmJob) -> Done {
        Done { jvm: job.control.key(), result: self.result(job) }
    }

    fn result(&self, job: &JvmJob) -> Result<JvmAnswer, ControlError> {
        let jvm = job.control.key();
        // Changes are undone even if the JVM failed before.
        let restores = matches!(job.task, JvmTask::CarryOut { wish: Wish::Restore, .. });
        let left = self.backoff.lock().left(jvm, Instant::now());
        if let Some(left) = left.filter(|_| !restores) {
            let (pid, left_ms) = (jvm.pid, left.as_millis());
            return Err(AttachError::BackedOff { pid, left_ms }.into());
        }
        let result = match &job.task {
            JvmTask::Remember => job.control.former().map(JvmAnswer::Remembered),
            JvmTask::CarryOut { wish, former } => {
                let sent = job.control.carry_out(*wish, former);
                sent.map(|sent| JvmAnswer::CarriedOut(*wish, sent))
            }
        };
        match &result {
            Ok(_) => self.backoff.lock().succeeded(jvm),
            Err(_) => self.backoff.lock().failed(jvm, Instant::now()),
        }
        result
    }
}
