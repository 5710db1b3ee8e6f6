//! Carrying out the recipes of a JVM, and restoring its flags.

use serde::{Deserialize, Serialize};

use super::{
    attach::Attach,
    attach_error::AttachError,
    command::{Flag, JvmCommand},
    recipe::{CollectorKind, Flags, Wish, recipe},
    reply::AttachReply,
};
#[cfg(test)]
use super::{attach::Timeouts, host::JvmHost, perf_data::Collector};
use crate::sensors::ProcessKey;

/// The flags of a JVM before the agent changed any. The journal keeps them across a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    pub pid: u32,
    pub start_ticks: u64,
    /// The flags that recipes for this JVM change.
    pub flags: Flags,
}

impl Former {
    pub fn key(&self) -> ProcessKey {
        ProcessKey { pid: self.pid, start_ticks: self.start_ticks }
    }
}

/// A sequence of commands that failed.
#[derive(Debug, thiserror::Error)]
#[error("{source} (after {} commands)", sent.len())]
pub struct ControlError {
    /// The commands carried out before the failure.
    pub sent: Vec<JvmCommand>,
    pub source: AttachError,
}

impl From<AttachError> for ControlError {
    fn from(source: AttachError) -> Self {
        Self { sent: Vec::new(), source }
    }
}

/// Sends commands to one JVM. Each call may wait for the JVM, so it belongs on a
/// thread of [`Workers`](crate::workers::Workers).
#[derive(Debug, Clone)]
pub struct Control {
    pub(super) attach: Attach,
    /// Collector and release, which select the recipes.
    pub kind: CollectorKind,
    pub accepts_attach: bool,
}

impl Control {
    pub fn key(&self) -> ProcessKey {
        self.attach.process.key()
    }

    /// Reads the flags that recipes for this JVM change. Keep them before the first wish; reading
    /// them later gives the changed values.
    pub fn former(&self) -> Result<Former, ControlError> {
        let ProcessKey { pid, start_ticks } = self.key();
        let read = |flag: &Flag| {
            let command = JvmCommand::PrintFlag(*flag);
            let value = self.send(command)?.flag_value(*flag);
            Ok((*flag, value.ok_or(AttachError::Malformed { pid, command })?))
        };
        let flags: Result<Flags, AttachError> = self.kind.flags().iter().map(read).collect();
        Ok(Former { pid, start_ticks, flags: flags? })
    }

    /// Sends the commands of a wish and returns them. If one fails, [`Wish::Restore`] undoes those
    /// before it.
    pub fn carry_out(&self, wish: Wish, former: &Former) -> Result<Vec<JvmCommand>, ControlError> {
        if former.key() != self.key() {
            let (pid, former) = (self.key().pid, former.pid);
            return Err(AttachError::OtherProcess { pid, former }.into());
        }
        let mut sent = Vec::new();
        for command in recipe(self.kind, &former.flags, wish) {
            match self.send(command) {
                Ok(_) => sent.push(command),
                Err(source) => return Err(ControlError { sent, source }),
            }
        }
        Ok(sent)
    }

    /// The control of a process in a directory that stands for `/proc`.
    #[cfg(test)]
    pub fn of_process(proc: &std::path::Path, pid: u32) -> std::io::Result<Self> {
        let process = std::sync::Arc::new(super::process_handle::ProcessHandle::open(proc, pid)?);
        let (host, timeouts) = (JvmHost::new(proc, ""), Timeouts::default());
        let kind = CollectorKind { collector: Collector::Serial, java_version: 17 };
        Ok(Self { attach: Attach { host, process, timeouts }, kind, accepts_attach: true })
    }

    fn send(&self, command: JvmCommand) -> Result<AttachReply, AttachError> {
        if !self.accepts_attach {
            return Err(AttachError::Disabled { pid: self.key().pid });
        }
        self.attach.send(command)
    }
}
