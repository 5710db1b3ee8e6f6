//! The audit file: a record of every change of a limit, with its reason.

mod history;
mod reason;

use std::{
    collections::BTreeMap,
    fmt::Debug,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use elastane_protocol::Limits;
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::history::History;
pub use self::reason::{Reason, Shortfall};
use crate::{actuators::Change, container_id::ContainerId, once::Once, own_file::beside};

/// The size at which the file is renamed to `FILE.1`.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

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
    open: Option<OpenAudit>,
    histories: BTreeMap<ContainerId, History>,
    troubles: Once,
}

#[derive(Debug)]
struct OpenAudit {
    path: PathBuf,
    file: File,
    bytes: u64,
    max_bytes: u64,
}

impl Audit {
    /// An entry that cannot be written is counted in `troubles`.
    pub fn open(path: Option<&Path>, troubles: Once) -> io::Result<Self> {
        Self::with_bound(path, MAX_BYTES, troubles)
    }

    /// Without a file.
    pub fn none(troubles: Once) -> Self {
        Self { open: None, histories: BTreeMap::new(), troubles }
    }

    fn with_bound(path: Option<&Path>, max_bytes: u64, troubles: Once) -> io::Result<Self> {
        let open = path.map(|path| OpenAudit::new(path, max_bytes)).transpose()?;
        Ok(Self { open, ..Self::none(troubles) })
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

    /// Records an event, whose fields follow the reason.
    pub fn record(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        event: impl Serialize + Debug,
    ) {
        log::debug!("{container}: {reason}: {event:?}");
        let unix_ms = unix_ms();
        self.histories.entry(container.clone()).or_default().push(unix_ms, reason);
        let Some(open) = &mut self.open else {
            return;
        };
        let entry = Entry { unix_ms, container, reason, event };
        let line = serde_json::to_vec(&entry).map_err(io::Error::from);
        let written = line.and_then(|line| open.append(line));
        if let Err(error) = written {
            self.troubles.warn("audit", format!("audit file: {error}"));
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

impl OpenAudit {
    fn new(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.into(), file, bytes, max_bytes })
    }

    fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.push(b'\n');
        let length = line.len() as u64;
        if self.bytes + length > self.max_bytes {
            match fs::rename(&self.path, beside(&self.path, ".1")) {
                // Renamed before, when no new file could be made.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed?,
            }
            *self = Self::new(&self.path, self.max_bytes)?;
        }
        self.file.write_all(&line)?;
        self.bytes += length;
        Ok(())
    }
}

/// The wall clock, for people and other programs.
pub fn unix_ms() -> u64 {
    let since = UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
