//! A record of every change of a limit, with its reason.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use elastane_protocol::Limits;
use serde::Serialize;

use crate::{actuators::Change, container_id::ContainerId, jvm::Command};

/// The size at which the file becomes the old file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Why a limit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A step of the plan began.
    PlanStep,
    /// The plan is as it was: a memory limit follows what is resident.
    FollowsUse,
    /// The newest plan has no entry for the container.
    NotInPlan,
    /// The plan ran out before another one came.
    PlanEnded,
    /// The container does not run any more.
    ContainerGone,
    /// An agent that was killed had left the limit behind.
    LeftBehind,
    /// The agent stops.
    AgentStops,
    /// A JVM did not give enough memory back in time: the limit stays above the plan's.
    HeapStays,
    /// The node is short of memory, and JVMs are asked to give back.
    NodeShort,
    /// The node was short of memory, and is not any more: JVMs are as they were.
    NodeNotShort,
    /// The node is short of memory, and the ResourceManager is told that the container should give
    /// way.
    Named,
    /// The node was short of memory for too long, and the container was killed.
    Killed,
}

impl Reason {
    /// As the audit file has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::PlanStep => "plan_step",
            Self::FollowsUse => "follows_use",
            Self::NotInPlan => "not_in_plan",
            Self::PlanEnded => "plan_ended",
            Self::ContainerGone => "container_gone",
            Self::LeftBehind => "left_behind",
            Self::AgentStops => "agent_stops",
            Self::HeapStays => "heap_stays",
            Self::NodeShort => "node_short",
            Self::NodeNotShort => "node_not_short",
            Self::Named => "named",
            Self::Killed => "killed",
        }
    }
}

/// Why a container gives way for want of memory.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Want {
    /// What the container held.
    pub resident_bytes: u64,
    /// What the node was short of.
    pub short_bytes: u64,
    /// What the node had left.
    pub available_bytes: u64,
}

#[derive(Serialize)]
struct Killed<'a> {
    processes: usize,
    #[serde(flatten)]
    want: &'a Want,
}

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
    /// What the plan says; what it does not limit is left out.
    plan: BTreeMap<&'static str, f64>,
    /// What was written, in order: file and text.
    written: Vec<(&'a Path, &'static str, String)>,
}

#[derive(Serialize)]
struct NetworkChanged {
    /// What is in force, by programs and classes, in the place of files; empty when it was lifted.
    network: BTreeMap<&'static str, f64>,
}

#[derive(Serialize)]
struct JvmChanged {
    pid: u32,
    /// What it was sent, in order.
    sent: Vec<String>,
}

#[derive(Serialize)]
struct HeapStays {
    above_plan_bytes: u64,
}

/// The audit file; without one, changes are only logged at debug level.
#[derive(Debug, Default)]
pub struct Audit {
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    bytes: u64,
    most_bytes: u64,
}

impl Audit {
    /// Opens the file to append to it.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open(path: Option<&Path>) -> io::Result<Self> {
        Self::with_bound(path, MOST_BYTES)
    }

    fn with_bound(path: Option<&Path>, most_bytes: u64) -> io::Result<Self> {
        let open = |path| Open::new(path, most_bytes);
        Ok(Self {
            open: path.map(open).transpose()?,
        })
    }

    /// Records what was written for a container.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        plan: &Limits,
        written: &[&Change],
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: {written:?}");
        let text = |change: &&Change| change.file.text(change.value);
        let written = written.iter();
        let event = Changed {
            plan: planned(plan),
            written: written
                .map(|change| (change.group.as_path(), change.file.name(), text(change)))
                .collect(),
        };
        self.append(container, reason, event)
    }

    /// Records that the limits of a container's network are the plan's now.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn network_changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        plan: &Limits,
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: network");
        let event = NetworkChanged {
            network: planned(&Limits {
                network_weight_bytes_per_s: plan.network_weight_bytes_per_s,
                network_cap_bytes_per_s: plan.network_cap_bytes_per_s,
                ..Limits::default()
            }),
        };
        self.append(container, reason, event)
    }

    /// Records what a JVM of a container was sent.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn jvm_changed(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        pid: u32,
        sent: &[Command],
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: pid {pid}: {sent:?}");
        let sent = sent.iter().map(Command::to_string).collect();
        self.append(container, reason, JvmChanged { pid, sent })
    }

    /// Records by how much the limit of a container stays above the plan's.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn heap_stays(&mut self, container: &ContainerId, above_plan_bytes: u64) -> io::Result<()> {
        log::debug!("{container}: its heap stays {above_plan_bytes} bytes above the plan");
        let event = HeapStays { above_plan_bytes };
        self.append(container, Reason::HeapStays, event)
    }

    /// Records that a container is named to the ResourceManager.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn named(&mut self, container: &ContainerId, want: &Want) -> io::Result<()> {
        self.append(container, Reason::Named, want)
    }

    /// Records that a container was killed with so many processes.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn killed(
        &mut self,
        container: &ContainerId,
        processes: usize,
        want: &Want,
    ) -> io::Result<()> {
        self.append(container, Reason::Killed, Killed { processes, want })
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

/// What a plan limits, by the names of its fields.
pub fn planned(limits: &Limits) -> BTreeMap<&'static str, f64> {
    let number = |number: u64| number as f64;
    [
        ("cpu_weight_cores", limits.cpu_weight_cores.map(f64::from)),
        ("cpu_cap_cores", limits.cpu_cap_cores.map(f64::from)),
        ("memory_bytes", limits.memory_bytes.map(number)),
        (
            "disk_cap_bytes_per_s",
            limits.disk_cap_bytes_per_s.map(number),
        ),
        (
            "network_weight_bytes_per_s",
            limits.network_weight_bytes_per_s.map(number),
        ),
        (
            "network_cap_bytes_per_s",
            limits.network_cap_bytes_per_s.map(number),
        ),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

impl Open {
    fn new(path: &Path, most_bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self {
            path: path.into(),
            file,
            bytes,
            most_bytes,
        })
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let length = line.len() as u64;
        if self.bytes + length > self.most_bytes {
            let mut old = self.path.clone().into_os_string();
            old.push(".1");
            fs::rename(&self.path, old)?;
            *self = Self::new(&self.path, self.most_bytes)?;
        }
        self.file.write_all(line)?;
        self.bytes += length;
        Ok(())
    }
}

/// Now, for people and for other programs.
pub fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::actuators::{LimitFile, Value};

    fn change() -> Change {
        Change {
            group: "/cpu/elastane/container_1_1_1_1".into(),
            file: LimitFile::CpuQuota,
            value: Value::AtMost(50_000),
        }
    }

    fn limits() -> Limits {
        Limits {
            cpu_weight_cores: Some(1.5),
            cpu_cap_cores: Some(0.5),
            ..Limits::default()
        }
    }

    #[test]
    fn a_change_is_one_line_of_json_with_its_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let mut audit = Audit::open(Some(&path)).unwrap();
        let id = "container_1_1_1_1".parse().unwrap();
        let (plan, change) = (limits(), change());
        audit
            .changed(&id, Reason::PlanStep, &plan, &[&change])
            .unwrap();
        let want = Want {
            resident_bytes: 9,
            short_bytes: 5,
            available_bytes: 1,
        };
        audit.named(&id, &want).unwrap();
        audit.killed(&id, 2, &want).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let entries: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0]["reason"], "plan_step");
        assert_eq!(entries[0]["plan"]["cpu_cap_cores"], 0.5);
        assert!(entries[0]["plan"]["memory_bytes"].is_null());
        let written = serde_json::json!([
            "/cpu/elastane/container_1_1_1_1",
            "cpu.cfs_quota_us",
            "50000"
        ]);
        assert_eq!(entries[0]["written"][0], written);
        assert_eq!(entries[1]["reason"], "named");
        assert_eq!(entries[1]["resident_bytes"], 9);
        assert_eq!(entries[2]["reason"], "killed");
        assert_eq!(entries[2]["processes"], 2);
        assert_eq!(entries[2]["short_bytes"], 5);
    }

    #[test]
    fn the_file_is_bounded_and_one_old_one_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let mut audit = Audit::with_bound(Some(&path), 1000).unwrap();
        let id = "container_1_1_1_1".parse().unwrap();
        for _ in 0..50 {
            let changed = audit.changed(&id, Reason::PlanStep, &limits(), &[&change()]);
            changed.unwrap();
        }
        let old = directory.path().join("audit.jsonl.1");
        for file in [&path, &old] {
            let length = fs::metadata(file).unwrap().len();
            assert!(length > 0 && length <= 1000, "{length}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
