//! Runs as a JSON file; `docs/export-format.md` has the format.

use elastane_core::{Demand, Resource, Resources, SLOT_MS};
use elastane_predict::{ContainerKind, Outcome, Run, RunSeries};
use elastane_runs::MOST_STAGES;
use serde::{Deserialize, Serialize};

const FORMAT: &str = "elastane-profiles";
const VERSION: u32 = 1;

/// The header of the file.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Body {
    format: String,
    version: u32,
    runs: Vec<RunInFile>,
}

#[derive(Serialize, Deserialize)]
struct RunInFile {
    application_key: String,
    application_id: String,
    application_name: String,
    started_ms: i64,
    ended_ms: i64,
    outcome: Outcome,
    series: Vec<SeriesInFile>,
}

#[derive(Serialize, Deserialize)]
struct SeriesInFile {
    kind: KindInFile,
    /// The priority of executors; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    priority: Option<i32>,
    containers: u32,
    slot_ms: u32,
    cpu_cores: Vec<f32>,
    memory_bytes: Vec<f32>,
    network_bytes_per_s: Vec<f32>,
    disk_bytes_per_s: Vec<f32>,
    /// When the application's stages ended since a container's start; none where it told none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    stage_ends_ms: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KindInFile {
    ApplicationMaster,
    Executor,
}

/// Writes runs as JSON.
pub(super) fn write(runs: &[Run]) -> serde_json::Result<String> {
    let body = Body {
        format: FORMAT.to_owned(),
        version: VERSION,
        runs: runs.iter().map(RunInFile::from).collect(),
    };
    serde_json::to_string(&body)
}

/// Reads the runs of a file; the error names the place.
pub(super) fn read(text: &str) -> Result<Vec<Run>, String> {
    let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if head.format != FORMAT {
        return Err(format!("format: {:?}, {FORMAT:?} is needed", head.format));
    }
    if head.version != VERSION {
        let version = head.version;
        return Err(format!("version: {version}, this program reads {VERSION}"));
    }
    let reader = &mut serde_json::Deserializer::from_str(text);
    let body: Body = serde_path_to_error::deserialize(reader)
        .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
    let runs = body.runs.into_iter().enumerate();
    runs.map(|(at, run)| run.read().map_err(|error| format!("runs[{at}].{error}"))).collect()
}

impl From<&Run> for RunInFile {
    fn from(run: &Run) -> Self {
        Self {
            application_key: run.application_key.clone(),
            application_id: run.application_id.clone(),
            application_name: run.application_name.clone(),
            started_ms: run.started_ms,
            ended_ms: run.ended_ms,
            outcome: run.outcome,
            series: run.series.iter().map(SeriesInFile::from).collect(),
        }
    }
}

impl From<&RunSeries> for SeriesInFile {
    fn from(series: &RunSeries) -> Self {
        let column = |resource| {
            let amounts = series.slots.iter().map(|slot| slot.get(resource) as f32);
            amounts.collect()
        };
        Self {
            kind: match series.kind {
                ContainerKind::ApplicationMaster => KindInFile::ApplicationMaster,
                ContainerKind::Executor { .. } => KindInFile::Executor,
            },
            priority: series.kind.priority().filter(|priority| *priority != 0),
            containers: series.containers,
            slot_ms: SLOT_MS,
            cpu_cores: column(Resource::Cpu),
            memory_bytes: column(Resource::Memory),
            network_bytes_per_s: column(Resource::Network),
            disk_bytes_per_s: column(Resource::Disk),
            stage_ends_ms: series.stage_ends_ms.clone(),
        }
    }
}

impl RunInFile {
    fn read(self) -> Result<Run, String> {
        for (name, text) in
            [("application_key", &self.application_key), ("application_id", &self.application_id)]
        {
            if text.is_empty() {
                return Err(format!("{name}: \"\", at least one character is needed"));
            }
        }
        if self.ended_ms < self.started_ms {
            let (ended, started) = (self.ended_ms, self.started_ms);
            return Err(format!("ended_ms: {ended}, at least {started} is allowed"));
        }
        let mut series: Vec<RunSeries> = Vec::new();
        for (at, read) in self.series.into_iter().enumerate() {
            let read = read.read();
            let read = read.map_err(|error| format!("series[{at}].{error}"))?;
            let kind = read.kind;
            if series.iter().any(|earlier| earlier.kind == kind) {
                return Err(format!("series[{at}].kind: a second {kind}, one is allowed"));
            }
            series.push(read);
        }
        Ok(Run {
            application_key: self.application_key,
            application_id: self.application_id,
            application_name: self.application_name,
            started_ms: self.started_ms,
            ended_ms: self.ended_ms,
            outcome: self.outcome,
            series,
        })
    }
}

impl SeriesInFile {
    fn read(self) -> Result<RunSeries, String> {
        if self.slot_ms != SLOT_MS {
            return Err(format!("slot_ms: {}, {SLOT_MS} is needed", self.slot_ms));
        }
        let columns = [
            ("cpu_cores", &self.cpu_cores),
            ("memory_bytes", &self.memory_bytes),
            ("network_bytes_per_s", &self.network_bytes_per_s),
            ("disk_bytes_per_s", &self.disk_bytes_per_s),
        ];
        let length = self.cpu_cores.len();
        for (name, column) in columns {
            if column.len() != length {
                let found = column.len();
                return Err(format!("{name}: {found} values, {length} are needed"));
            }
            let bad = |value: &f32| !value.is_finite() || *value < 0.0;
            if let Some(at) = column.iter().position(bad) {
                let value = column[at];
                return Err(format!("{name}[{at}]: {value}, finite and at least 0 is allowed"));
            }
        }
        let stages = self.stage_ends_ms.len();
        if stages > MOST_STAGES {
            return Err(format!(
                "stage_ends_ms: {stages} values, at most {MOST_STAGES} are allowed"
            ));
        }
        let falls = |pair: &[u32]| pair[1] < pair[0];
        if let Some(at) = self.stage_ends_ms.windows(2).position(falls) {
            let [before, end] = [self.stage_ends_ms[at], self.stage_ends_ms[at + 1]];
            return Err(format!("stage_ends_ms[{}]: {end}, at least {before} is allowed", at + 1));
        }
        let slot =
            |at: usize| Resources::from_array(columns.map(|(_, column)| f64::from(column[at])));
        let slots: Vec<Resources> = (0..length).map(slot).collect();
        Demand::series(SLOT_MS, &slots).map_err(|error| format!("cpu_cores: {error}"))?;
        Ok(RunSeries {
            kind: match self.kind {
                KindInFile::ApplicationMaster => ContainerKind::ApplicationMaster,
                KindInFile::Executor => {
                    ContainerKind::Executor { priority: self.priority.unwrap_or(0) }
                }
            },
            containers: self.containers,
            slots,
            stage_ends_ms: self.stage_ends_ms,
        })
    }
}
