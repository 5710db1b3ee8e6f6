//! The state of an application, built event by event.

use std::collections::BTreeMap;

use elastane_core::SLOT_MS;
use elastane_predict::{ContainerKind, ContainerSample, Outcome, RunRecorder, RunSeries};

use crate::event::{
    ApplicationEnd, ApplicationStart, Environment, ExecutorChange, JobEnd, LogStart,
    ProfileRequests, Rdd, ResourceProfileAdded, Stage, StageExecutorMetrics, TaskEnd, TaskMetrics,
};
use crate::executor::{Flows, LoggedExecutor};
use crate::memory::MemoryCounts;
use crate::properties::Properties;
use crate::stages::{Stages, Traits};

/// Spark's default resource profile.
const DEFAULT_PROFILE: i32 = 0;

/// The state after the events read so far.
#[derive(Default)]
pub(crate) struct LoggedApplication {
    pub(crate) start: Option<ApplicationStart>,
    pub(crate) environment: Option<Environment>,
    pub(crate) spark_version: Option<String>,
    pub(crate) tasks: u64,
    pub(crate) input_bytes: f64,
    end: Option<ApplicationEnd>,
    executors: BTreeMap<String, LoggedExecutor>,
    profiles: BTreeMap<i32, ProfileRequests>,
    stages: Stages,
    has_last_job_failed: bool,
    latest_ms: i64,
}

impl LoggedApplication {
    /// Applies an event; events of other names carry no resources.
    pub(crate) fn event(&mut self, name: &str, line: &[u8]) -> Result<(), serde_json::Error> {
        match name {
            "SparkListenerTaskEnd" => self.task_ended(&serde_json::from_slice(line)?),
            "SparkListenerLogStart" => {
                let start: LogStart = serde_json::from_slice(line)?;
                self.spark_version = Some(start.version);
            }
            "SparkListenerApplicationStart" => {
                let start: ApplicationStart = serde_json::from_slice(line)?;
                self.seen(start.at_ms);
                self.start = Some(start);
            }
            "SparkListenerApplicationEnd" => self.end = Some(serde_json::from_slice(line)?),
            "SparkListenerEnvironmentUpdate" => {
                self.environment = Some(serde_json::from_slice(line)?);
            }
            "SparkListenerExecutorAdded" => {
                let ExecutorChange { at_ms, id, info } = serde_json::from_slice(line)?;
                self.seen(at_ms);
                self.executors
                    .entry(id)
                    .or_insert_with(|| LoggedExecutor::new(info.profile, at_ms));
            }
            "SparkListenerResourceProfileAdded" => {
                let ResourceProfileAdded { id, requests } = serde_json::from_slice(line)?;
                self.profiles.insert(id, requests);
            }
            "SparkListenerExecutorRemoved" => {
                let ExecutorChange { at_ms, id, .. } = serde_json::from_slice(line)?;
                self.seen(at_ms);
                if let Some(executor) = self.executors.get_mut(&id) {
                    executor.ended_ms = Some(at_ms);
                }
            }
            "SparkListenerJobEnd" => {
                let end: JobEnd = serde_json::from_slice(line)?;
                self.has_last_job_failed = end.result.result != "JobSucceeded";
            }
            "SparkListenerStageSubmitted" => {
                self.stages.begin(&serde_json::from_slice::<Stage>(line)?.info);
            }
            "SparkListenerStageCompleted" => self.stage_ended(&serde_json::from_slice(line)?),
            "SparkListenerStageExecutorMetrics" => {
                let peak: StageExecutorMetrics<'_> = serde_json::from_slice(line)?;
                self.stages.peak(&peak);
            }
            "SparkListenerUnpersistRDD" => {
                let rdd: Rdd = serde_json::from_slice(line)?;
                self.stages.forget(&rdd);
            }
            _ => {}
        }
        Ok(())
    }

    fn seen(&mut self, at_ms: i64) {
        self.latest_ms = self.latest_ms.max(at_ms);
    }

    fn task_ended(&mut self, task: &TaskEnd<'_>) {
        let (from_ms, to_ms) = (task.info.from_ms, task.info.to_ms);
        self.seen(to_ms);
        self.tasks += 1;
        let traits = self.stages.traits((task.stage, task.attempt));
        let id = task.info.executor.as_ref();
        // A log may begin after its executors did.
        if !self.executors.contains_key(id) {
            let executor = LoggedExecutor::new(DEFAULT_PROFILE, from_ms);
            self.executors.insert(id.to_owned(), executor);
        }
        let Some(executor) = self.executors.get_mut(id) else {
            return;
        };
        if let Some(metrics) = &task.metrics {
            if !traits.reads_kept {
                self.input_bytes += metrics.input.bytes.max(0.0);
            }
            executor.spread(from_ms, to_ms, flows(metrics, traits));
        }
        if let Some(metrics) = &task.executor_metrics {
            let slots = executor.slots_between(from_ms, to_ms);
            executor.task_memory.add(slots, metrics);
        }
    }

    fn stage_ended(&mut self, stage: &Stage) {
        let Some(closed) = self.stages.end(&stage.info) else {
            return;
        };
        self.seen(closed.to_ms);
        for (id, metrics) in &closed.peaks {
            // The driver is no executor on YARN.
            if let Some(executor) = self.executors.get_mut(id) {
                let slots = executor.slots_between(closed.from_ms, closed.to_ms);
                executor.stage_memory.add(slots, metrics);
            }
        }
    }

    pub(crate) fn has_executors(&self) -> bool {
        !self.executors.is_empty()
    }

    pub(crate) fn ended_ms(&self) -> i64 {
        self.end.as_ref().map_or(self.latest_ms, |end| end.at_ms)
    }

    /// Spark logs an exit code since version 4 only, and 0 for a job that failed.
    pub(crate) fn outcome(&self) -> Outcome {
        match &self.end {
            None => Outcome::CutOff,
            Some(end) if self.has_last_job_failed || end.exit_code.unwrap_or(0) != 0 => {
                Outcome::Failed
            }
            Some(_) => Outcome::Succeeded,
        }
    }

    /// The executors' usage, and the sources of their memory.
    pub(crate) fn series(&mut self, properties: &Properties<'_>) -> (Vec<RunSeries>, MemoryCounts) {
        let ended_ms = self.ended_ms();
        if !properties.has_shuffle_service() {
            self.send(ended_ms);
        }
        let mut recorder = RunRecorder::new();
        let mut sources = MemoryCounts::default();
        for (id, executor) in &self.executors {
            let profile = self.profiles.get(&executor.profile);
            // The properties describe the default profile.
            let profile = profile.filter(|_| executor.profile != DEFAULT_PROFILE);
            let request = properties.executor_bytes(profile.unwrap_or(&ProfileRequests::new()));
            let (samples, source) = executor.samples(ended_ms, request);
            sources.add(source);
            let kind = self.kind_of(executor);
            for (end_ms, length_ms, used) in samples {
                let sample = ContainerSample::new(end_ms, length_ms, used);
                recorder.add(id.as_str(), kind, sample);
            }
        }
        (recorder.series(), sources)
    }

    /// Since version 3.1, the priority of an executor's request is the id of its resource profile;
    /// before, it is 1.
    fn kind_of(&self, executor: &LoggedExecutor) -> ContainerKind {
        let version = self.spark_version.as_deref().unwrap_or_default();
        let mut numbers = version.split('.').map(str::parse::<u32>);
        let is_before = match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => (major, minor) < (3, 1),
            _ => false,
        };
        ContainerKind::Executor { priority: if is_before { 1 } else { executor.profile } }
    }

    /// Without a shuffle service, what an executor receives the others send: each executor alive at the
    /// time sends an equal share.
    fn send(&mut self, ended_ms: i64) {
        const SLOT: i64 = SLOT_MS as i64;
        let mut received: BTreeMap<i64, BTreeMap<String, f64>> = BTreeMap::new();
        for (id, executor) in &self.executors {
            for (from_ms, bytes) in executor.received() {
                let slot = received.entry(from_ms.div_euclid(SLOT)).or_default();
                *slot.entry(id.clone()).or_default() += bytes;
            }
        }
        for (slot, received) in received {
            let (from_ms, to_ms) = (slot * SLOT, (slot + 1) * SLOT);
            let all: f64 = received.values().sum();
            let mut senders: Vec<(&String, &mut LoggedExecutor)> = self
                .executors
                .iter_mut()
                .filter(|(_, it)| {
                    it.started_ms < to_ms && it.ended_ms.unwrap_or(ended_ms) > from_ms
                })
                .collect();
            let others = senders.len().saturating_sub(1).max(1) as f64;
            for (id, sender) in &mut senders {
                let own = received.get(*id).copied().unwrap_or_default();
                sender.spread(from_ms, to_ms, [0.0, (all - own) / others, 0.0]);
            }
        }
    }
}

/// A task's usage; `docs/import.md` explains the formula.
fn flows(metrics: &TaskMetrics, traits: Traits) -> Flows {
    let wait_ms = metrics.shuffle_read.wait_ms;
    let busy_ms = metrics.run_ms - wait_ms - metrics.collection_ms;
    let mut cpu_s = metrics.cpu_ns.map_or(busy_ms / 1e3, |cpu_ns| cpu_ns / 1e9);
    if traits.runs_python {
        cpu_s = cpu_s.max(busy_ms / 1e3);
    }
    let cpu_s = cpu_s + metrics.deserialize_cpu_ns / 1e9 + metrics.collection_ms / 1e3;
    let input = if traits.reads_kept { 0.0 } else { metrics.input.bytes };
    let disk = input
        + metrics.output.bytes
        + metrics.shuffle_write.bytes
        + metrics.shuffle_read.local_bytes
        + metrics.shuffle_read.remote_to_disk_bytes
        // Spilled data is written and read.
        + 2.0 * metrics.spilled_bytes;
    [cpu_s, metrics.shuffle_read.remote_bytes, disk].map(|amount| amount.max(0.0))
}
