//! Carrying out the recipes of a JVM, and restoring its flags.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    attach::{Attach, Timeouts},
    attach_error::AttachError,
    command::{Command, Flag},
    host::Host,
    process::Process,
    recipe::{Flags, Kind, Recipe, Wish, recipe},
    reply::Reply,
};

/// The flags of a JVM before the agent changed any. The journal keeps them across a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    pub pid: u32,
    /// The start of the process. Pid and start identify a process.
    pub start_ticks: u64,
    /// The flags that recipes for this JVM change.
    pub flags: Flags,
}

/// A sequence of commands that failed.
#[derive(Debug, thiserror::Error)]
#[error("{source} (after {} commands)", sent.len())]
pub struct ControlError {
    /// The commands carried out before the failure.
    pub sent: Vec<Command>,
    pub source: AttachError,
}

impl From<AttachError> for ControlError {
    fn from(source: AttachError) -> Self {
        let sent = Vec::new();
        Self { sent, source }
    }
}

/// Sends commands to one JVM. Each call may wait for the JVM, so it belongs on a
/// [`Worker`](super::Worker).
#[derive(Debug, Clone)]
pub struct Control {
    host: Host,
    process: Arc<Process>,
    kind: Kind,
    accepts_attach: bool,
}

impl Control {
    pub(super) fn new(host: Host, process: Arc<Process>, kind: Kind, accepts_attach: bool) -> Self {
        Self {
            host,
            process,
            kind,
            accepts_attach,
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn start_ticks(&self) -> u64 {
        self.process.start_ticks()
    }

    pub fn accepts_attach(&self) -> bool {
        self.accepts_attach
    }

    /// Collector and release, which select the recipes.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Reads the flags that recipes for this JVM change. Keep them before the first wish; reading
    /// them later gives the changed values.
    pub fn former(&self) -> Result<Former, ControlError> {
        let read = |flag: &Flag| {
            let command = Command::PrintFlag(*flag);
            let pid = self.pid();
            let value = self.send(command)?.flag_value(*flag);
            let value = value.ok_or(AttachError::Malformed { pid, command })?;
            Ok((*flag, value))
        };
        let flags: Result<Flags, AttachError> = self.kind.flags().iter().map(read).collect();
        Ok(Former {
            pid: self.pid(),
            start_ticks: self.start_ticks(),
            flags: flags?,
        })
    }

    /// Sends the commands of a wish and returns them. If one fails, [`Wish::Restore`] undoes those
    /// before it.
    pub fn carry_out(&self, wish: Wish, former: &Former) -> Result<Recipe, ControlError> {
        if (former.pid, former.start_ticks) != (self.pid(), self.start_ticks()) {
            return Err(ControlError::from(AttachError::OtherProcess {
                pid: self.pid(),
                former: former.pid,
            }));
        }
        let commands = match recipe(self.kind, &former.flags, wish) {
            Recipe::Send(commands) => commands,
            alone @ Recipe::LeaveAlone(_) => return Ok(alone),
        };
        let mut sent = Vec::new();
        for command in commands {
            match self.send(command) {
                Ok(_) => sent.push(command),
                Err(source) => return Err(ControlError { sent, source }),
            }
        }
        Ok(Recipe::Send(sent))
    }

    fn send(&self, command: Command) -> Result<Reply, AttachError> {
        if !self.accepts_attach {
            return Err(AttachError::Disabled { pid: self.pid() });
        }
        let attach = Attach {
            host: &self.host,
            process: &self.process,
            timeouts: Timeouts::default(),
        };
        attach.send(command)
    }
}
