//! The events and fields that the reader uses, by Spark's names. Missing amounts are 0.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use crate::properties::ProfileRequests;

const BEGINNING: &[u8] = b"{\"Event\":\"";

/// The name of the event on a line; None if the line is not an event.
pub(crate) fn name_of(line: &[u8]) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Named<'l> {
        #[serde(rename = "Event", borrow)]
        event: Cow<'l, str>,
    }
    // Spark writes the name first, so most lines need not be parsed.
    if let Some(rest) = line.strip_prefix(BEGINNING) {
        let end = rest.iter().position(|byte| *byte == b'"')?;
        return std::str::from_utf8(&rest[..end]).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice::<Named<'_>>(line)
        .ok()
        .map(|named| named.event)
}

#[derive(Deserialize)]
pub(crate) struct ApplicationStart {
    #[serde(rename = "App Name")]
    pub(crate) name: String,
    #[serde(rename = "App ID")]
    pub(crate) id: Option<String>,
    #[serde(rename = "Timestamp")]
    pub(crate) at_ms: i64,
    #[serde(rename = "User", default)]
    pub(crate) user: String,
    #[serde(rename = "App Attempt ID")]
    pub(crate) attempt: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct ApplicationEnd {
    #[serde(rename = "Timestamp")]
    pub(crate) at_ms: i64,
    #[serde(rename = "ExitCode")]
    pub(crate) exit_code: Option<i64>,
}

#[derive(Deserialize)]
pub(crate) struct Environment {
    #[serde(rename = "Spark Properties", default)]
    pub(crate) spark: BTreeMap<String, String>,
    #[serde(rename = "System Properties", default)]
    pub(crate) system: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(crate) struct ExecutorAdded {
    #[serde(rename = "Timestamp")]
    pub(crate) at_ms: i64,
    #[serde(rename = "Executor ID")]
    pub(crate) id: String,
    #[serde(rename = "Executor Info", default)]
    pub(crate) info: ExecutorInfo,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ExecutorInfo {
    #[serde(rename = "Resource Profile Id")]
    pub(crate) profile: i32,
}

#[derive(Deserialize)]
pub(crate) struct ResourceProfileAdded {
    #[serde(rename = "Resource Profile Id")]
    pub(crate) id: i32,
    #[serde(rename = "Executor Resource Requests", default)]
    pub(crate) requests: ProfileRequests,
}

#[derive(Deserialize)]
pub(crate) struct ResourceRequest {
    #[serde(rename = "Amount", default)]
    pub(crate) amount: f64,
}

#[derive(Deserialize)]
pub(crate) struct ExecutorRemoved {
    #[serde(rename = "Timestamp")]
    pub(crate) at_ms: i64,
    #[serde(rename = "Executor ID")]
    pub(crate) id: String,
}

#[derive(Deserialize)]
pub(crate) struct JobEnd {
    #[serde(rename = "Job Result")]
    pub(crate) result: JobResult,
}

#[derive(Deserialize)]
pub(crate) struct JobResult {
    #[serde(rename = "Result")]
    pub(crate) result: String,
}

/// A submitted or completed stage.
#[derive(Deserialize)]
pub(crate) struct Stage {
    #[serde(rename = "Stage Info")]
    pub(crate) info: StageInfo,
}

#[derive(Deserialize)]
pub(crate) struct StageInfo {
    #[serde(rename = "Stage ID")]
    pub(crate) id: i64,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(crate) attempt: i64,
    #[serde(rename = "Submission Time")]
    pub(crate) from_ms: Option<i64>,
    #[serde(rename = "Completion Time")]
    pub(crate) to_ms: Option<i64>,
    #[serde(rename = "RDD Info", default)]
    pub(crate) rdds: Vec<Rdd>,
}

#[derive(Deserialize)]
pub(crate) struct Rdd {
    #[serde(rename = "RDD ID")]
    pub(crate) id: i64,
    #[serde(rename = "Name", default)]
    pub(crate) name: String,
    #[serde(rename = "Scope", default)]
    pub(crate) scope: String,
    #[serde(rename = "Storage Level")]
    pub(crate) storage: Option<StorageLevel>,
}

#[derive(Deserialize)]
pub(crate) struct StorageLevel {
    #[serde(rename = "Use Memory", default)]
    pub(crate) memory: bool,
}

#[derive(Deserialize)]
pub(crate) struct UnpersistRdd {
    #[serde(rename = "RDD ID")]
    pub(crate) id: i64,
}

#[derive(Deserialize)]
pub(crate) struct StageExecutorMetrics<'l> {
    #[serde(rename = "Executor ID", borrow)]
    pub(crate) executor: Cow<'l, str>,
    #[serde(rename = "Stage ID")]
    pub(crate) stage: i64,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(crate) attempt: i64,
    #[serde(rename = "Executor Metrics")]
    pub(crate) metrics: ExecutorMetrics,
}

/// The peaks since the previous report, in bytes.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(default)]
pub(crate) struct ExecutorMetrics {
    #[serde(rename = "JVMHeapMemory")]
    pub(crate) heap: f64,
    #[serde(rename = "JVMOffHeapMemory")]
    pub(crate) off_heap: f64,
    #[serde(rename = "DirectPoolMemory")]
    pub(crate) direct: f64,
    #[serde(rename = "ProcessTreeJVMRSSMemory")]
    pub(crate) jvm_resident: f64,
    #[serde(rename = "ProcessTreePythonRSSMemory")]
    pub(crate) python_resident: f64,
    #[serde(rename = "ProcessTreeOtherRSSMemory")]
    pub(crate) other_resident: f64,
}

#[derive(Deserialize)]
pub(crate) struct TaskEnd<'l> {
    #[serde(rename = "Stage ID")]
    pub(crate) stage: i64,
    #[serde(rename = "Stage Attempt ID", default)]
    pub(crate) attempt: i64,
    #[serde(rename = "Task Info", borrow)]
    pub(crate) info: TaskInfo<'l>,
    #[serde(rename = "Task Executor Metrics")]
    pub(crate) executor_metrics: Option<ExecutorMetrics>,
    #[serde(rename = "Task Metrics")]
    pub(crate) metrics: Option<TaskMetrics>,
}

#[derive(Deserialize)]
pub(crate) struct TaskInfo<'l> {
    #[serde(rename = "Launch Time")]
    pub(crate) from_ms: i64,
    #[serde(rename = "Finish Time")]
    pub(crate) to_ms: i64,
    #[serde(rename = "Executor ID", borrow)]
    pub(crate) executor: Cow<'l, str>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct TaskMetrics {
    #[serde(rename = "Executor Deserialize CPU Time")]
    pub(crate) deserialize_cpu_ns: f64,
    #[serde(rename = "Executor CPU Time")]
    pub(crate) cpu_ns: Option<f64>,
    #[serde(rename = "Executor Run Time")]
    pub(crate) run_ms: f64,
    #[serde(rename = "JVM GC Time")]
    pub(crate) collection_ms: f64,
    #[serde(rename = "Disk Bytes Spilled")]
    pub(crate) spilled_bytes: f64,
    #[serde(rename = "Shuffle Read Metrics")]
    pub(crate) shuffle_read: ShuffleRead,
    #[serde(rename = "Shuffle Write Metrics")]
    pub(crate) shuffle_write: ShuffleWrite,
    #[serde(rename = "Input Metrics")]
    pub(crate) input: Input,
    #[serde(rename = "Output Metrics")]
    pub(crate) output: Output,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ShuffleRead {
    #[serde(rename = "Fetch Wait Time")]
    pub(crate) wait_ms: f64,
    #[serde(rename = "Remote Bytes Read")]
    pub(crate) remote_bytes: f64,
    #[serde(rename = "Remote Bytes Read To Disk")]
    pub(crate) remote_to_disk_bytes: f64,
    #[serde(rename = "Local Bytes Read")]
    pub(crate) local_bytes: f64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct ShuffleWrite {
    #[serde(rename = "Shuffle Bytes Written")]
    pub(crate) bytes: f64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Input {
    #[serde(rename = "Bytes Read")]
    pub(crate) bytes: f64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Output {
    #[serde(rename = "Bytes Written")]
    pub(crate) bytes: f64,
}
