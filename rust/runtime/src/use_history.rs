//! What the containers of a node used over the last quarter of an hour beside what was planned, for those who look at
//! the node.

use std::collections::{HashMap, VecDeque};

use elastane_core::Resources;
use elastane_protocol::ContainerSamples;

/// Between two steps, at least.
const STEP_MS: i64 = 20_000;
/// A quarter of an hour.
const MOST_STEPS: usize = 45;

/// The use of each container at the same moments. Containers that ended stay for as long as steps show them.
#[derive(Debug, Default)]
pub(crate) struct UseHistory {
    times_ms: VecDeque<i64>,
    /// As long as the times, with nothing where the container was not measured.
    by_container: HashMap<String, VecDeque<Option<Use>>>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    pub(crate) cpu_cores: f32,
    pub(crate) memory_bytes: f32,
    /// Then; nothing of a container that the core did not know.
    pub(crate) planned_cpu_cores: f32,
    pub(crate) planned_memory_bytes: f32,
}

impl UseHistory {
    /// Takes the newest samples of a report, unless the last step is too recent. `planned` gives what a container is
    /// expected to use now.
    pub(crate) fn arrived(
        &mut self,
        containers: &[ContainerSamples],
        at_ms: i64,
        planned: impl Fn(&str) -> Option<Resources>,
    ) {
        if self.times_ms.back().is_some_and(|last_ms| at_ms - last_ms < STEP_MS) {
            return;
        }
        let steps = self.times_ms.len();
        self.times_ms.push_back(at_ms);
        for container in containers {
            let Some(sample) = container.samples.last() else {
                continue;
            };
            let planned = planned(&container.container).unwrap_or(Resources::ZERO);
            let used = Use {
                cpu_cores: sample.usage.cpu_cores,
                memory_bytes: sample.usage.memory_bytes as f32,
                planned_cpu_cores: planned.cpu_cores as f32,
                planned_memory_bytes: planned.memory_bytes as f32,
            };
            match self.by_container.get_mut(&container.container) {
                Some(steps_of) => steps_of.push_back(Some(used)),
                None => {
                    let mut steps_of = VecDeque::from(vec![None; steps]);
                    steps_of.push_back(Some(used));
                    self.by_container.insert(container.container.clone(), steps_of);
                }
            }
        }
        let is_full = self.times_ms.len() > MOST_STEPS;
        if is_full {
            self.times_ms.pop_front();
        }
        self.by_container.retain(|_, steps_of| {
            // A report names a container once; one that is not in it has nothing at this step.
            steps_of.resize(steps + 1, None);
            if is_full {
                steps_of.pop_front();
            }
            steps_of.iter().any(Option::is_some)
        });
    }

    /// When the steps were, oldest first.
    pub(crate) fn times_ms(&self) -> Vec<i64> {
        self.times_ms.iter().copied().collect()
    }

    /// The use of each container at these times, in the order of the names.
    pub(crate) fn containers(&self) -> Vec<(String, Vec<Option<Use>>)> {
        let steps_of = |steps: &VecDeque<_>| steps.iter().copied().collect();
        let all = self.by_container.iter();
        let mut all: Vec<_> = all.map(|(id, steps)| (id.clone(), steps_of(steps))).collect();
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        all
    }
}

#[cfg(test)]
mod tests;
