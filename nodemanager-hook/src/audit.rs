//! The audit file: a record of every change of a limit, with its reason.

mod reason;

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use elastane_protocol::Limits;
use serde::Serialize;
use serde_json::json;

pub use self::reason::{Reason, Shortfall};
use crate::{actuators::Change, container_id::ContainerId, jvm::JvmCommand};

/// The size at which the file is renamed to `FILE.1`.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

#[derive(Serialize)]
struct Entry<'a, Event> {
    unix_ms: u64,
    container: &'a str,
    reason: &'static str,
    #[serde(flatten)]
    event: Event,
}

#[derive(Serialize)]
struct Changed<'a> {
    /// The planned limits.
    plan: BTreeMap<&'static str, f64>,
    /// Group, file and text, in the order of writing.
    written: Vec<(&'a Path, &'static str, String)>,
}

#[derive(Serialize)]
struct Killed<'a> {
    processes: usize,
    #[serde(flatten)]
    shortfall: &'a Shortfall,
}

/// The audit file. Without one, changes are only logged at debug level.
#[derive(Debug, Default)]
pub struct Audit {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    bytes: u64,
    max_bytes: u64,
}

impl Audit {
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        Self::with_bound(path, MAX_BYTES)
    }

    fn with_bound(path: Option<&Path>, max_bytes: u64) -> io::Result<Self> {
        let open = |path| Open::new(path, max_bytes);
        Ok(Self {
            open: path.map(open).transpose()?,
        })
    }

    /// Records the files written for a container.
    pub fn changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        plan: &Limits,
        written: &[&Change],
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: {written:?}");
        let text = |change: &Change| change.file.text(change.value);
        let written = written.iter();
        let event = Changed {
            plan: planned(plan),
            written: written
                .map(|change| (change.group.as_path(), change.file.name(), text(change)))
                .collect(),
        };
        self.append(container, reason, event)
    }

    /// Records that the planned network limits of a container are in force, or lifted.
    pub fn network_changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        plan: &Limits,
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: network");
        let network = planned(&Limits {
            network_weight_bytes_per_s: plan.network_weight_bytes_per_s,
            network_cap_bytes_per_s: plan.network_cap_bytes_per_s,
            ..Limits::default()
        });
        self.append(container, reason, json!({ "network": network }))
    }

    /// Records the commands sent to a JVM of a container.
    pub fn jvm_changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        pid: u32,
        sent: &[JvmCommand],
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: pid {pid}: {sent:?}");
        let sent: Vec<String> = sent.iter().map(JvmCommand::to_string).collect();
        self.append(container, reason, json!({ "pid": pid, "sent": sent }))
    }

    /// Records by how much the limit of a container stays above the planned one.
    pub fn heap_stays(&mut self, container: &ContainerId, above_plan_bytes: u64) -> io::Result<()> {
        log::debug!("{container}: its heap stays {above_plan_bytes} bytes above the plan");
        let event = json!({ "above_plan_bytes": above_plan_bytes });
        self.append(container, Reason::HeapStays, event)
    }

    /// Records that a container is named to the ResourceManager.
    pub fn named(&mut self, container: &ContainerId, shortfall: &Shortfall) -> io::Result<()> {
        self.append(container, Reason::Named, shortfall)
    }

    /// Records that a container was killed.
    pub fn killed(
        &mut self,
        container: &ContainerId,
        processes: usize,
        shortfall: &Shortfall,
    ) -> io::Result<()> {
        self.append(
            container,
            Reason::Killed,
            Killed {
                processes,
                shortfall,
            },
        )
    }

    fn append(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        event: impl Serialize,
    ) -> io::Result<()> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(&Entry {
            unix_ms: unix_ms(),
            container: container.as_str(),
            reason: reason.name(),
            event,
        })?;
        line.push(b'\n');
        open.append(&line)
    }
}

/// The limits that are set, by field name.
pub fn planned(limits: &Limits) -> BTreeMap<&'static str, f64> {
    let number = |value: Option<u64>| value.map(|value| value as f64);
    let Limits {
        cpu_weight_cores,
        cpu_cap_cores,
        memory_bytes,
        disk_cap_bytes_per_s,
        network_weight_bytes_per_s: network_weight,
        network_cap_bytes_per_s: network_cap,
    } = *limits;
    [
        ("cpu_weight_cores", cpu_weight_cores.map(f64::from)),
        ("cpu_cap_cores", cpu_cap_cores.map(f64::from)),
        ("memory_bytes", number(memory_bytes)),
        ("disk_cap_bytes_per_s", number(disk_cap_bytes_per_s)),
        ("network_weight_bytes_per_s", number(network_weight)),
        ("network_cap_bytes_per_s", number(network_cap)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

impl Open {
    fn new(path: &Path, max_bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self {
            path: path.into(),
            file,
            bytes,
            max_bytes,
        })
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let length = line.len() as u64;
        if self.bytes + length > self.max_bytes {
            let mut old = self.path.clone().into_os_string();
            old.push(".1");
            fs::rename(&self.path, old)?;
            *self = Self::new(&self.path, self.max_bytes)?;
        }
        self.file.write_all(line)?;
        self.bytes += length;
        Ok(())
    }
}

/// The wall clock, for people and other programs.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
