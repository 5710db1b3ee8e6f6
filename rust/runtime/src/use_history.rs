//! What the containers of a node used over the last quarter of an hour beside what was planned, for those who look at
//! the node.

mod packed;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use elastane_core::Resources;
use elastane_protocol::ContainerSamples;

use crate::amounts::used;
use packed::PackedUse;

/// Between two steps, at least.
const STEP_MS: i64 = 20_000;
/// A quarter of an hour.
const MOST_STEPS: usize = 45;
/// Number of steps that a full column is extended by.
const MORE_STEPS: usize = 9;

/// The last steps, and a column for each container that was measured at one of them. A column takes 16 bytes a step from
/// its first measured step on: at most 720 bytes, and 56 bytes for the column itself. The name is shared with the cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseHistory {
    /// When the steps were, oldest first.
    times_ms: VecDeque<i64>,
    /// The number of steps that were forgotten.
    forgotten: u64,
    /// In the order of the names.
    columns: Vec<Column>,
}

/// A container at the steps from the first to the last at which it was measured.
#[derive(Debug, Clone)]
struct Column {
    name: Arc<str>,
    /// The number of the first of its steps, from the beginning of the history.
    first: u64,
    steps: VecDeque<PackedUse>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    pub(crate) used: Resources,
    /// By the plan of that time.
    pub(crate) planned: Resources,
}

/// Times, and the use of each container at these.
pub(crate) type UseColumns = (Vec<i64>, BTreeMap<String, Vec<Option<Use>>>);

impl UseHistory {
    /// Takes the newest samples of a report, unless the last step is too recent. `planned` gives a container's shared id
    /// and what it is expected to use now, and nothing for one that does not run on the node: it is left out.
    pub(crate) fn arrived(
        &mut self,
        containers: &[ContainerSamples],
        at_ms: i64,
        planned: impl Fn(&str) -> Option<(Arc<str>, Resources)>,
    ) {
        if !self.is_due(at_ms) {
            return;
        }
        self.begin_step(at_ms);
        let mut new = Vec::new();
        for container in containers {
            let name = container.container.as_str();
            let (Some(last), Some((id, planned))) = (container.samples.last(), planned(name))
            else {
                continue;
            };
            let step = Use { used: used(&last.usage), planned };
            new.extend(self.measured(id, PackedUse::of(step)));
        }
        self.add_columns(new);
    }

    /// Whether the last step is old enough for the next one.
    pub(crate) fn is_due(&self, at_ms: i64) -> bool {
        self.times_ms.back().is_none_or(|last_ms| at_ms - last_ms >= STEP_MS)
    }

    /// Begins the newest step, and forgets the oldest if there are too many.
    fn begin_step(&mut self, at_ms: i64) {
        self.times_ms.push_back(at_ms);
        if self.times_ms.len() <= MOST_STEPS {
            return;
        }
        self.times_ms.pop_front();
        let forgotten = self.forgotten;
        self.forgotten += 1;
        self.columns.retain_mut(|column| {
            if column.first == forgotten {
                column.steps.pop_front();
                column.first += 1;
            }
            !column.steps.is_empty()
        });
    }

    /// Takes a container's use at the newest step. Of two only the first counts. Gives the column of a container that has
    /// none yet.
    fn measured(&mut self, name: Arc<str>, used: PackedUse) -> Option<Column> {
        let step = self.forgotten + self.times_ms.len().saturating_sub(1) as u64;
        let Ok(place) = self.columns.binary_search_by(|column| column.name.cmp(&name)) else {
            let mut new = Column { name, first: step, steps: VecDeque::new() };
            new.push(used);
            return Some(new);
        };
        let column = &mut self.columns[place];
        if let Some(missed) = step.checked_sub(column.end()) {
            for _ in 0..missed {
                column.push(PackedUse::NONE);
            }
            column.push(used);
        }
        None
    }

    /// Merges a step's new columns, of which two may have the same name, and frees memory once less than half is used.
    fn add_columns(&mut self, mut new: Vec<Column>) {
        if !new.is_empty() {
            // Both sorts are stable: the first of two columns with the same name stays the first.
            new.sort_by(|a, b| a.name.cmp(&b.name));
            self.columns.append(&mut new);
            // Linear, as it merges two sorted parts.
            self.columns.sort_by(|a, b| a.name.cmp(&b.name));
            self.columns.dedup_by(|later, first| later.name == first.name);
        }
        if self.columns.len() < self.columns.capacity() / 2 {
            self.columns.shrink_to_fit();
        }
    }

    /// When the steps were, oldest first; and each container at these steps, in the order of the names, with nothing
    /// where it was not measured.
    pub(crate) fn columns(&self) -> UseColumns {
        let by_container = self.columns.iter().map(|column| {
            let before = column.first.saturating_sub(self.forgotten) as usize;
            let mut steps = vec![None; before];
            steps.extend(column.steps.iter().map(|step| step.unpacked()));
            steps.resize(self.times_ms.len(), None);
            (column.name.to_string(), steps)
        });
        (self.times_ms.iter().copied().collect(), by_container.collect())
    }
}

impl Column {
    /// The number of the step after its last.
    fn end(&self) -> u64 {
        self.first + self.steps.len() as u64
    }

    /// Extends the ring by a few steps: one that doubles would leave up to half of it free.
    fn push(&mut self, used: PackedUse) {
        let length = self.steps.len();
        if length == self.steps.capacity() {
            // A copied ring is as long as its steps.
            self.steps.reserve_exact(MORE_STEPS.min(MOST_STEPS.saturating_sub(length)));
        }
        self.steps.push_back(used);
    }
}

#[cfg(test)]
mod tests;
