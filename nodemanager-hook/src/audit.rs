//! A record of every change of a limit, with its reason.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use elastane_protocol::CpuStep;
use serde::Serialize;

use crate::{actuators::CpuLimit, container_id::ContainerId};

/// The size at which the file becomes the old file.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Why a limit changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A step of the plan began.
    PlanStep,
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
}

#[derive(Serialize)]
struct Entry<'a> {
    unix_ms: u64,
    container: &'a str,
    reason: Reason,
    weight_cores: Option<f32>,
    cap_cores: Option<f32>,
    shares: u64,
    quota_us: i64,
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

    /// Records a change.
    ///
    /// # Errors
    /// Those of writing the file.
    pub fn record(
        &mut self,
        container: &ContainerId,
        reason: Reason,
        step: Option<CpuStep>,
        limit: CpuLimit,
    ) -> io::Result<()> {
        log::debug!("{container}: {reason:?}: {limit:?}");
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(&Entry {
            unix_ms: unix_ms(),
            container: container.as_str(),
            reason,
            weight_cores: step.map(|step| step.weight_cores),
            cap_cores: step.and_then(|step| step.cap_cores),
            shares: limit.shares,
            quota_us: limit.quota_us,
        })?;
        line.push(b'\n');
        open.append(&line)
    }
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

fn unix_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: CpuStep = CpuStep {
        offset_ms: 0,
        weight_cores: 1.5,
        cap_cores: Some(0.5),
    };
    const LIMIT: CpuLimit = CpuLimit {
        shares: 1536,
        quota_us: 50_000,
    };

    #[test]
    fn a_change_is_one_line_of_json_with_its_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let mut audit = Audit::open(Some(&path)).unwrap();
        let id = "container_1_1_1_1".parse().unwrap();
        audit
            .record(&id, Reason::PlanStep, Some(STEP), LIMIT)
            .unwrap();
        audit
            .record(&id, Reason::PlanEnded, None, CpuLimit::LIFTED)
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let entries: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0]["reason"], "plan_step");
        assert_eq!(entries[0]["cap_cores"], 0.5);
        assert_eq!(entries[0]["quota_us"], 50_000);
        assert_eq!(entries[1]["reason"], "plan_ended");
        assert!(entries[1]["cap_cores"].is_null());
    }

    #[test]
    fn the_file_is_bounded_and_one_old_one_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("audit.jsonl");
        let mut audit = Audit::with_bound(Some(&path), 1000).unwrap();
        let id = "container_1_1_1_1".parse().unwrap();
        for _ in 0..50 {
            audit
                .record(&id, Reason::PlanStep, Some(STEP), LIMIT)
                .unwrap();
        }
        let old = directory.path().join("audit.jsonl.1");
        for file in [&path, &old] {
            let length = fs::metadata(file).unwrap().len();
            assert!(length > 0 && length <= 1000, "{length}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }
}
