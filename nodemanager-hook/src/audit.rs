//! The audit file: a record of every change of a limit, with its reason.

mod file;
mod history;
mod reason;
mod writer;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    io,
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use elastane_protocol::Limits;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use self::reason::{Reason, Shortfall};
use self::{
    file::AuditFile,
    history::History,
    writer::{WITHIN, WriteError, Writer},
};
use crate::{actuators::Change, container_id::ContainerId, troubles::Troubles};

/// How long a stopping agent waits for the disk.
const END_WITHIN: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Entry<'a, Event> {
    unix_ms: u64,
    container: &'a ContainerId,
    reason: Reason,
    #[serde(flatten)]
    event: Event,
}

/// The audit file, and the newest reasons by container. Without a file, changes are only logged at
/// debug level.
#[derive(Debug)]
pub struct Audit {
    writer: Option<Writer>,
    /// Lines for [`Self::flush`].
    lines: Vec<u8>,
    histories: BTreeMap<ContainerId, History>,
    troubles: Troubles,
}

impl Audit {
    /// Entries that cannot be written are counted in `troubles`, once for each [`Self::flush`].
    pub fn open(path: Option<&Path>, troubles: Troubles) -> io::Result<Self> {
        let writer = |path| {
            let mut file = AuditFile::open(path)?;
            Writer::start(WITHIN, move |lines| file.append(lines))
        };
        Ok(Self { writer: path.map(writer).transpose()?, ..Self::none(troubles) })
    }

    /// Without a file.
    pub fn none(troubles: Troubles) -> Self {
        Self { writer: None, lines: Vec::new(), histories: BTreeMap::new(), troubles }
    }

    /// Writes what was recorded, all at once.
    pub fn flush(&mut self) {
        if let Some(writer) = &mut self.writer {
            let written = writer.write(&mut self.lines);
            self.count(written);
        }
    }

    /// As [`Self::flush`], but waits a moment for a disk that hangs. Nothing is recorded any more.
    pub fn end(&mut self) {
        if let Some(writer) = self.writer.take() {
            let written = writer.end(std::mem::take(&mut self.lines), END_WITHIN);
            self.count(written);
        }
    }

    fn count(&self, written: Result<(), WriteError>) {
        let Err(error) = written else {
            return;
        };
        let kind = match error {
            WriteError::Failed(_) | WriteError::Waits => "audit",
            WriteError::Lost { .. } | WriteError::Ended { .. } => "audit lines lost",
        };
        self.troubles.warn(kind, format!("audit file: {error}"));
    }

    /// The newest reasons for changes to a container, oldest first, each with its age in ms.
    pub fn newest_reasons(&self, container: &ContainerId) -> Vec<(u64, Reason)> {
        let history = self.histories.get(container);
        history.map_or_else(Vec::new, |history| history.at(unix_ms()))
    }

    /// Forgets the reasons of containers that do not run.
    pub fn retain(&mut self, runs: impl Fn(&ContainerId) -> bool) {
        self.histories.retain(|container, _| runs(container));
    }

    /// Records the files written for a container: group, file and text, in the order of writing.
    pub fn changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        plan: &Limits,
        written: &[&Change],
    ) {
        let written = written
            .iter()
            .map(|Change { group, file, value }| (group.as_path(), file.name(), file.text(*value)));
        let written: Vec<_> = written.collect();
        let event = json!({ "plan": planned(plan), "written": written });
        self.record(container, reason, event);
    }

    /// Records the limits of a container's network that are in force from now on.
    pub fn network_changed(&mut self, container: &ContainerId, reason: Reason, network: &Limits) {
        let event = json!({ "network": planned(network) });
        self.record(container, reason, event);
    }

    /// Records that a container was killed: the processes that have ended, and those that have not.
    pub fn killed(
        &mut self,
        container: &ContainerId,
        processes: usize,
        left: usize,
        shortfall: Shortfall,
    ) {
        let mut event = json!(shortfall);
        event["processes"] = processes.into();
        event["left"] = left.into();
        self.record(container, Reason::Killed, event);
    }

    /// Records an event, whose fields follow the reason, for the next [`Self::flush`].
    pub fn record(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        event: impl Serialize + Debug,
    ) {
        log::debug!("{container}: {reason}: {event:?}");
        let unix_ms = unix_ms();
        self.histories.entry(container.clone()).or_default().push(unix_ms, reason);
        if self.writer.is_none() {
            return;
        }
        let entry = Entry { unix_ms, container, reason, event };
        match serde_json::to_vec(&entry) {
            Ok(line) => {
                self.lines.extend(line);
                self.lines.push(b'\n');
            }
            Err(error) => self.troubles.warn("audit", format!("audit entry: {error}")),
        }
    }
}

/// The limits that are set, by field name.
pub fn planned(limits: &Limits) -> Map<String, Value> {
    match serde_json::to_value(limits) {
        Ok(Value::Object(mut fields)) => {
            fields.retain(|_, value| !value.is_null());
            fields
        }
        _ => Map::new(),
    }
}

/// The wall clock, for people and other programs.
pub fn unix_ms() -> u64 {
    let since = UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
