//! Turning samples into the series of a run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use elastane_core::{ContainerKind, Resources, SLOT_MS};
use serde::{Deserialize, Serialize};

use crate::run::RunSeries;
use crate::sample::ContainerSample;

mod stages;
mod state;

pub use stages::MOST_STAGES;
use stages::{RecordedStages, StagesTold};

/// The longest series, in slots: 24 h. Later samples of a container are not recorded.
pub const MAX_SLOTS: usize = 24 * 60 * 60 * 1_000 / SLOT_MS as usize;

/// The most priorities of executors in one run; an application may ask for each container at another
/// one.
pub const MOST_EXECUTOR_KINDS: usize = 32;

/// A series grows by an eighth, and by no less than this: one that doubles leaves a third of its memory free on average.
const LEAST_MORE_SLOTS: usize = 8;

const LONGEST_MS: i64 = MAX_SLOTS as i64 * SLOT_MS as i64;

/// Accumulates the samples of one running application, as they would have been on free nodes
/// ([`crate::Crowding`]).
///
/// A slot's value is the mean over the time that samples cover in it (memory: the largest). A slot
/// without samples takes the value before it; missing slots at the start take the first value. Memory
/// is bounded by [`MAX_SLOTS`] for each kind, by [`MOST_EXECUTOR_KINDS`] and by one open slot for each
/// container. So samples of a container have to come in the order of time; late samples, and those
/// of one kind too many, are left out and counted.
///
/// A recorder that serde wrote and read goes on exactly where it was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "state::Unchecked")]
pub struct RunRecorder {
    containers: HashMap<Arc<str>, RecordedContainer>,
    totals: BTreeMap<ContainerKind, Totals>,
    left_out: u64,
}

impl RunRecorder {
    /// An empty recorder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one sample of a container.
    ///
    /// A sample that spans several slots is divided by overlap; its parts before the start or after 24 h
    /// are cut off. The kind of a container is that of its first sample.
    pub fn add(
        &mut self,
        container: impl Into<Arc<str>>,
        kind: ContainerKind,
        sample: ContainerSample,
    ) {
        self.add_sample(container.into(), kind, sample);
    }

    fn add_sample(&mut self, container: Arc<str>, kind: ContainerKind, sample: ContainerSample) {
        let measured_ms = self.containers.get(&container).map(|it| it.measured_ms);
        let start = sample.end_since_start_ms.saturating_sub(i64::from(sample.length_ms));
        let start = start.max(measured_ms.unwrap_or(0));
        let end = sample.end_since_start_ms.min(LONGEST_MS);
        if start >= end || !sample.is_valid() {
            self.left_out += 1;
            return;
        }
        if measured_ms.is_none() {
            if !self.has_room_for(kind) {
                self.left_out += 1;
                return;
            }
            self.totals.entry(kind).or_default().containers += 1;
        }
        let container =
            self.containers.entry(container).or_insert_with(|| RecordedContainer::new(kind));
        let totals = self.totals.entry(container.kind).or_default();
        let (start, end, usage) = container.on_free_nodes(start, end, sample);
        for slot in slot_of(start)..=slot_of(end - 1) {
            let slot_start = slot as i64 * i64::from(SLOT_MS);
            let slot_end = slot_start + i64::from(SLOT_MS);
            let overlap_ms = end.min(slot_end) - start.max(slot_start);
            container.cover(slot, overlap_ms as f64, usage, totals);
        }
    }

    fn has_room_for(&self, kind: ContainerKind) -> bool {
        let executors = self.totals.keys().filter(|it| !it.is_application_master());
        kind.is_application_master()
            || self.totals.contains_key(&kind)
            || executors.count() < MOST_EXECUTOR_KINDS
    }

    /// A number of stages of a container's application have ended, the latest of them at this time since the container's
    /// start. Returns whether that counts: a container tells an end once.
    pub fn stages_ended(&mut self, container: &str, stages: u32, since_start_ms: i64) -> bool {
        let Some(container) = self.containers.get_mut(container) else {
            return false;
        };
        // On free nodes it would have been as much earlier as its latest sample.
        let on_free_nodes_ms = container.free_ms + since_start_ms - container.measured_ms;
        let age_ms = on_free_nodes_ms.clamp(0, LONGEST_MS) as u32;
        let totals = self.totals.get_mut(&container.kind);
        totals.is_some_and(|totals| totals.stages.told(&mut container.told, stages, age_ms))
    }

    /// The number of samples that were left out: late samples, those outside a container's first 24 h, of
    /// length 0, of one kind too many, or with an amount that is not from 0 to 1e30.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether no container has been seen.
    pub fn is_empty(&self) -> bool {
        self.containers.is_empty()
    }

    /// For each kind that had a container, the mean over the containers that lived in each slot.
    pub fn series(&self) -> Vec<RunSeries> {
        let mut totals = self.totals.clone();
        for container in self.containers.values() {
            let totals = totals.entry(container.kind).or_default();
            container.clone().close(totals);
        }
        totals
            .into_iter()
            .map(|(kind, totals)| RunSeries {
                kind,
                containers: totals.containers,
                slots: totals.slots.iter().map(Total::mean).collect(),
                stage_ends_ms: totals.stages.ends_ms(),
            })
            .collect()
    }
}

fn slot_of(since_start_ms: i64) -> usize {
    (since_start_ms / i64::from(SLOT_MS)) as usize
}

/// The open slot of a container, and the state that closing it needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedContainer {
    kind: ContainerKind,
    /// The open slot, and the number of slots that are in the totals.
    slot: usize,
    closed: usize,
    /// Amount × milliseconds in the open slot; memory is the largest amount.
    sum: Resources,
    covered_ms: f64,
    /// The value of the last closed slot.
    last: Option<Resources>,
    /// The end of the latest sample since the container's start, and the same on free nodes.
    measured_ms: i64,
    free_ms: i64,
    told: StagesTold,
}

impl RecordedContainer {
    fn new(kind: ContainerKind) -> Self {
        Self {
            kind,
            slot: 0,
            closed: 0,
            sum: Resources::ZERO,
            covered_ms: 0.0,
            last: None,
            measured_ms: 0,
            free_ms: 0,
            told: StagesTold::default(),
        }
    }

    /// When the next sample would have begun and ended on free nodes, and its use there: the same work and
    /// memory. In a gap before it the container was as crowded as in the sample.
    fn on_free_nodes(
        &mut self,
        start: i64,
        end: i64,
        sample: ContainerSample,
    ) -> (i64, i64, Resources) {
        let length_ms = sample.left_ms(end - start);
        let free_start = self.free_ms + sample.left_ms(start - self.measured_ms);
        (self.measured_ms, self.free_ms) = (end, free_start + length_ms);
        let faster = (end - start) as f64 / length_ms as f64;
        let memory_bytes = sample.usage.memory_bytes;
        let usage = Resources { memory_bytes, ..sample.usage * faster };
        (free_start, self.free_ms, usage)
    }

    /// Adds to the open slot or a later one, and closes those before it.
    fn cover(&mut self, slot: usize, covered_ms: f64, usage: Resources, totals: &mut Totals) {
        if slot > self.slot {
            self.close(totals);
            self.slot = slot;
        }
        let memory_bytes = self.sum.memory_bytes.max(usage.memory_bytes);
        self.sum = Resources { memory_bytes, ..self.sum + usage * covered_ms };
        self.covered_ms += covered_ms;
    }

    /// Adds the open slot, and the gap before it, to the totals.
    fn close(&mut self, totals: &mut Totals) {
        if self.covered_ms == 0.0 {
            return;
        }
        let value =
            Resources { memory_bytes: self.sum.memory_bytes, ..self.sum * (1.0 / self.covered_ms) };
        let gap = self.last.unwrap_or(value);
        for slot in self.closed..self.slot {
            totals.add(slot, gap);
        }
        totals.add(self.slot, value);
        self.closed = self.slot + 1;
        self.last = Some(value);
        self.sum = Resources::ZERO;
        self.covered_ms = 0.0;
    }
}

/// The sums over all containers of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Totals {
    containers: u32,
    slots: Vec<Total>,
    stages: RecordedStages,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Total {
    sum: Resources,
    containers: u32,
}

impl Totals {
    /// Each container adds its slots from 0 on without a gap.
    fn add(&mut self, slot: usize, value: Resources) {
        if slot == self.slots.len() {
            if slot == self.slots.capacity() {
                self.slots.reserve_exact((slot / 8).max(LEAST_MORE_SLOTS));
            }
            self.slots.push(Total { sum: Resources::ZERO, containers: 0 });
        }
        if let Some(total) = self.slots.get_mut(slot) {
            total.sum += value;
            total.containers += 1;
        }
    }
}

impl Total {
    fn mean(&self) -> Resources {
        self.sum * (1.0 / f64::from(self.containers))
    }
}
