//! Asking a JVM for what its recipe says, and putting back what was before.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    attach::{Attach, AttachError, Patience},
    command::Command,
    host::Host,
    process::Process,
    recipe::{Flags, Kind, Recipe, Wish, recipe},
};

/// The flags of a JVM before the agent changed any; for a journal that outlives a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    /// Of the process that the flags are of.
    pub pid: u32,
    /// With the pid, it names the process for good.
    pub start_ticks: u64,
    /// Each flag that recipes for this JVM change.
    pub flags: Flags,
}

/// A row of commands that broke off.
#[derive(Debug, thiserror::Error)]
#[error("{source} (after {} commands)", sent.len())]
pub struct ControlError {
    /// What was done before.
    pub sent: Vec<Command>,
    /// Why not more.
    pub source: AttachError,
}

/// Asks one JVM. Each call may wait as long as [`Patience`] allows, so it belongs on a
/// [`Worker`](super::Worker).
#[derive(Debug, Clone)]
pub struct Control {
    host: Host,
    process: Arc<Process>,
    kind: Kind,
    accepts_attach: bool,
    patience: Patience,
}

impl Control {
    pub(super) fn new(host: Host, process: Arc<Process>, kind: Kind, accepts_attach: bool) -> Self {
        Self {
            host,
            process,
            kind,
            accepts_attach,
            patience: Patience::default(),
        }
    }

    /// The same with another patience.
    #[must_use]
    pub fn with_patience(self, patience: Patience) -> Self {
        Self { patience, ..self }
    }

    /// The pid of the JVM.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// When its process began, in ticks since the boot.
    pub fn start_ticks(&self) -> u64 {
        self.process.start_ticks()
    }

    /// Whether it takes commands at all.
    pub fn accepts_attach(&self) -> bool {
        self.accepts_attach
    }

    /// What decides about its recipes.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Reads the flags that recipes for this JVM change. To be kept before the first wish is
    /// carried out, and never read again after it.
    ///
    /// # Errors
    /// A JVM that does not answer. Nothing is sent to one that is left alone.
    pub fn former(&self) -> Result<Former, ControlError> {
        let mut flags = Flags::new();
        for flag in self.kind.flags() {
            let command = Command::PrintFlag(*flag);
            let pid = self.pid();
            let value = self
                .send(command)
                .and_then(|reply| {
                    let value = reply.flag_value(*flag);
                    value.ok_or(AttachError::Malformed { pid, command })
                })
                .map_err(|source| ControlError {
                    sent: Vec::new(),
                    source,
                })?;
            flags.insert(*flag, value);
        }
        Ok(Former {
            pid: self.pid(),
            start_ticks: self.start_ticks(),
            flags,
        })
    }

    /// Does what a wish needs and says what that was.
    ///
    /// # Errors
    /// What kept it from all or a part; after any part, [`Wish::Restore`] puts all back.
    pub fn carry_out(&self, wish: Wish, former: &Former) -> Result<Recipe, ControlError> {
        let mut sent = Vec::new();
        if (former.pid, former.start_ticks) != (self.pid(), self.start_ticks()) {
            let source = AttachError::OtherProcess {
                pid: self.pid(),
                former: former.pid,
            };
            return Err(ControlError { sent, source });
        }
        let commands = match recipe(self.kind, &former.flags, wish) {
            Recipe::Send(commands) => commands,
            alone @ Recipe::LeaveAlone(_) => return Ok(alone),
        };
        for command in commands {
            match self.send(command) {
                Ok(_) => sent.push(command),
                Err(source) => return Err(ControlError { sent, source }),
            }
        }
        Ok(Recipe::Send(sent))
    }

    fn send(&self, command: Command) -> Result<super::reply::Reply, AttachError> {
        if !self.accepts_attach {
            return Err(AttachError::Disabled { pid: self.pid() });
        }
        let attach = Attach {
            host: &self.host,
            process: &self.process,
            patience: self.patience,
        };
        attach.send(command)
    }
}
