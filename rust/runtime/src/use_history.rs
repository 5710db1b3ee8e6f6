//! What the containers of a node used over the last quarter of an hour beside what was planned, for those who look at
//! the node.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use elastane_core::Resources;
use elastane_protocol::ContainerSamples;

/// Between two steps, at least.
const STEP_MS: i64 = 20_000;
/// A quarter of an hour.
const MOST_STEPS: usize = 45;

/// Steps, oldest first; each has the containers that were measured then. So it takes as much memory as was measured,
/// some 1 KB for a container that runs for all of the time. A copy is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct UseHistory {
    steps: VecDeque<Arc<Step>>,
}

#[derive(Debug)]
struct Step {
    at_ms: i64,
    /// In their order. Steps share the list until a container starts or ends.
    names: Arc<[Arc<str>]>,
    /// Of each name.
    used: Box<[Use]>,
}

impl Step {
    fn name(&self, container: &str) -> Option<&Arc<str>> {
        let place = self.names.binary_search_by(|name| (**name).cmp(container)).ok()?;
        self.names.get(place)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Use {
    pub(crate) cpu_cores: f32,
    pub(crate) memory_bytes: f32,
    /// By the plan of that time.
    pub(crate) planned: [f32; 2],
}

/// Times, and the use of each container at these.
pub(crate) type UseColumns = (Vec<i64>, BTreeMap<String, Vec<Option<Use>>>);

impl UseHistory {
    /// Takes the newest samples of a report, unless the last step is too recent. `planned` gives what a container is
    /// expected to use now, and nothing for one that does not run on the node: it is left out.
    pub(crate) fn arrived(
        &mut self,
        containers: &[ContainerSamples],
        at_ms: i64,
        planned: impl Fn(&str) -> Option<Resources>,
    ) {
        let last = self.steps.back();
        if last.is_some_and(|last| at_ms - last.at_ms < STEP_MS) {
            return;
        }
        let measured = containers.iter().filter_map(|container| {
            let name = container.container.as_str();
            let usage = container.samples.last()?.usage;
            let planned = planned(name)?;
            let used = Use {
                cpu_cores: usage.cpu_cores,
                memory_bytes: usage.memory_bytes as f32,
                planned: [planned.cpu_cores as f32, planned.memory_bytes as f32],
            };
            let known = last.and_then(|last| last.name(name));
            Some((known.map_or_else(|| Arc::from(name), Arc::clone), used))
        });
        let mut measured: Vec<_> = measured.collect();
        measured.sort_by(|(one, _), (other, _)| one.cmp(other));
        measured.dedup_by(|(one, _), (other, _)| one == other);
        let (names, used): (Vec<_>, Vec<_>) = measured.into_iter().unzip();
        let names = match last {
            Some(last) if *last.names == *names => Arc::clone(&last.names),
            _ => names.into(),
        };
        self.steps.push_back(Arc::new(Step { at_ms, names, used: used.into() }));
        if self.steps.len() > MOST_STEPS {
            self.steps.pop_front();
        }
    }

    /// When the steps were, oldest first; and each container at these steps, in the order of the names, with nothing
    /// where it was not measured.
    pub(crate) fn columns(&self) -> UseColumns {
        let mut by_container: BTreeMap<String, Vec<Option<Use>>> = BTreeMap::new();
        for (number, step) in self.steps.iter().enumerate() {
            for (name, used) in step.names.iter().zip(&step.used) {
                let steps = || vec![None; self.steps.len()];
                let column = by_container.entry(name.to_string()).or_insert_with(steps);
                column[number] = Some(*used);
            }
        }
        (self.steps.iter().map(|step| step.at_ms).collect(), by_container)
    }
}

#[cfg(test)]
mod tests;
