//! The events and fields that the reader uses, by Spark's names. Missing amounts are 0.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

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
    serde_json::from_slice::<Named<'_>>(line).ok().map(|named| named.event)
}

/// Structs of the fields that the reader uses; the text behind a field is Spark's name of the field.
macro_rules! fields_by_name {
    ($(
        $(#[$of_struct:meta])*
        struct $name:ident $(<$lifetime:lifetime>)? {
            $($(#[$of_field:meta])* $field:ident: $type:ty = $key:literal,)*
        }
    )*) => {$(
        #[derive(Deserialize)]
        $(#[$of_struct])*
        pub(crate) struct $name $(<$lifetime>)? {
            $($(#[$of_field])* #[serde(rename = $key)] pub(crate) $field: $type,)*
        }
    )*};
}

fields_by_name! {
    struct LogStart {
        version: String = "Spark Version",
    }

    struct ApplicationStart {
        name: String = "App Name",
        id: Option<String> = "App ID",
        at_ms: i64 = "Timestamp",
        #[serde(default)]
        user: String = "User",
        attempt: Option<String> = "App Attempt ID",
    }

    struct ApplicationEnd {
        at_ms: i64 = "Timestamp",
        exit_code: Option<i64> = "ExitCode",
    }

    #[derive(Default)]
    #[serde(default)]
    struct Environment {
        spark: BTreeMap<String, String> = "Spark Properties",
        system: BTreeMap<String, String> = "System Properties",
    }

    /// An executor was added or removed.
    struct ExecutorChange {
        at_ms: i64 = "Timestamp",
        id: String = "Executor ID",
        #[serde(default)]
        info: ExecutorInfo = "Executor Info",
    }

    #[derive(Default)]
    #[serde(default)]
    struct ExecutorInfo {
        profile: i32 = "Resource Profile Id",
    }

    struct ResourceProfileAdded {
        id: i32 = "Resource Profile Id",
        #[serde(default)]
        requests: ProfileRequests = "Executor Resource Requests",
    }

    struct ResourceRequest {
        #[serde(default)]
        amount: f64 = "Amount",
    }

    struct JobEnd {
        result: JobResult = "Job Result",
    }

    struct JobResult {
        result: String = "Result",
    }

    /// A submitted or completed stage.
    struct Stage {
        info: StageInfo = "Stage Info",
    }

    struct StageInfo {
        id: i64 = "Stage ID",
        #[serde(default)]
        attempt: i64 = "Stage Attempt ID",
        from_ms: Option<i64> = "Submission Time",
        to_ms: Option<i64> = "Completion Time",
        #[serde(default)]
        rdds: Vec<Rdd> = "RDD Info",
    }

    /// An RDD of a stage, or one that is no longer cached.
    struct Rdd {
        id: i64 = "RDD ID",
        #[serde(default)]
        name: String = "Name",
        #[serde(default)]
        scope: String = "Scope",
        storage: Option<StorageLevel> = "Storage Level",
    }

    struct StorageLevel {
        #[serde(default)]
        memory: bool = "Use Memory",
    }

    struct StageExecutorMetrics<'l> {
        #[serde(borrow)]
        executor: Cow<'l, str> = "Executor ID",
        stage: i64 = "Stage ID",
        #[serde(default)]
        attempt: i64 = "Stage Attempt ID",
        metrics: ExecutorMetrics = "Executor Metrics",
    }

    /// The peaks since the previous report, in bytes.
    #[derive(Default, Clone, Copy)]
    #[serde(default)]
    struct ExecutorMetrics {
        heap: f64 = "JVMHeapMemory",
        off_heap: f64 = "JVMOffHeapMemory",
        direct: f64 = "DirectPoolMemory",
        jvm_resident: f64 = "ProcessTreeJVMRSSMemory",
        python_resident: f64 = "ProcessTreePythonRSSMemory",
        other_resident: f64 = "ProcessTreeOtherRSSMemory",
    }

    struct TaskEnd<'l> {
        stage: i64 = "Stage ID",
        #[serde(default)]
        attempt: i64 = "Stage Attempt ID",
        #[serde(borrow)]
        info: TaskInfo<'l> = "Task Info",
        executor_metrics: Option<ExecutorMetrics> = "Task Executor Metrics",
        metrics: Option<TaskMetrics> = "Task Metrics",
    }

    struct TaskInfo<'l> {
        from_ms: i64 = "Launch Time",
        to_ms: i64 = "Finish Time",
        #[serde(borrow)]
        executor: Cow<'l, str> = "Executor ID",
    }

    #[derive(Default)]
    #[serde(default)]
    struct TaskMetrics {
        deserialize_cpu_ns: f64 = "Executor Deserialize CPU Time",
        cpu_ns: Option<f64> = "Executor CPU Time",
        run_ms: f64 = "Executor Run Time",
        collection_ms: f64 = "JVM GC Time",
        spilled_bytes: f64 = "Disk Bytes Spilled",
        shuffle_read: ShuffleRead = "Shuffle Read Metrics",
        shuffle_write: Moved = "Shuffle Write Metrics",
        input: Moved = "Input Metrics",
        output: Moved = "Output Metrics",
    }

    #[derive(Default)]
    #[serde(default)]
    struct ShuffleRead {
        wait_ms: f64 = "Fetch Wait Time",
        remote_bytes: f64 = "Remote Bytes Read",
        remote_to_disk_bytes: f64 = "Remote Bytes Read To Disk",
        local_bytes: f64 = "Local Bytes Read",
    }

    #[derive(Default)]
    #[serde(default)]
    struct Moved {
        #[serde(alias = "Bytes Written", alias = "Shuffle Bytes Written")]
        bytes: f64 = "Bytes Read",
    }
}

/// The requests of a resource profile, by Spark's names; memory in MiB.
pub(crate) type ProfileRequests = BTreeMap<String, ResourceRequest>;
