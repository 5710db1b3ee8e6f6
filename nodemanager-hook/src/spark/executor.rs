//! One container's executor.

use std::{
    io::{self, Read},
    path::Path,
};

use elastane_protocol::DecommissionOutcome;
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal},
};

use crate::{
    jvm::{ProcessHandle, is_jvm},
    sensors::{ProcessKey, is_gone},
};

/// The main class of an executor on YARN. Spark 3 and 4 start it as `java … CLASS --driver-url …`.
const EXECUTOR_CLASS: &[u8] = b"org.apache.spark.executor.YarnCoarseGrainedExecutorBackend";
/// More than a class path takes. The main class follows it.
const MOST_ARGUMENT_BYTES: u64 = 1 << 20;

/// Sends SIGPWR to the executor among the processes of a container. A process whose memory map is locked holds up whoever
/// calls this.
pub fn decommission(proc: &Path, processes: &[ProcessKey]) -> DecommissionOutcome {
    let mut outcome = DecommissionOutcome::NoExecutor;
    // A wrapper that starts the executor may have the same arguments, and comes first.
    for key in processes {
        match signal(proc, *key) {
            Ok(DecommissionOutcome::Signalled) => return DecommissionOutcome::Signalled,
            Ok(DecommissionOutcome::NotHandled) => outcome = DecommissionOutcome::NotHandled,
            Ok(_) => {}
            Err(error) if is_gone(&error) => {}
            Err(error) => {
                log::debug!("pid {} is not decommissioned: {error}", key.pid);
                if outcome == DecommissionOutcome::NoExecutor {
                    outcome = DecommissionOutcome::Failed;
                }
            }
        }
    }
    outcome
}

fn signal(proc: &Path, key: ProcessKey) -> io::Result<DecommissionOutcome> {
    let pid = i32::try_from(key.pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    // The handle comes before the checks: it names no later process with the same pid. Linux has it from 5.3 on.
    let handle = pidfd_open(pid, PidfdFlags::empty());
    let process = ProcessHandle::open(proc, key.pid)?;
    if process.key() != key || !is_executor(&process)? {
        return Ok(DecommissionOutcome::NoExecutor);
    }
    let status = process.status()?;
    if !is_jvm(&process, status)? {
        return Ok(DecommissionOutcome::NoExecutor);
    }
    if !status.catches_power {
        return Ok(DecommissionOutcome::NotHandled);
    }
    match handle {
        Ok(handle) => pidfd_send_signal(&handle, Signal::POWER)?,
        // The filter of a service manager that does not know the call answers PERM.
        Err(Errno::NOSYS | Errno::PERM) => kill_process(pid, Signal::POWER)?,
        Err(error) => return Err(error.into()),
    }
    Ok(DecommissionOutcome::Signalled)
}

/// Whether one argument is the main class. A shell that starts the executor has it within a longer argument.
fn is_executor(process: &ProcessHandle) -> io::Result<bool> {
    let mut arguments = Vec::new();
    process.open_file("cmdline")?.take(MOST_ARGUMENT_BYTES).read_to_end(&mut arguments)?;
    Ok(arguments.split(|byte| *byte == 0).any(|argument| argument == EXECUTOR_CLASS))
}
