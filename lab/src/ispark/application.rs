//! A running application and the packing of its executors.

use elastane_core::Resources;

use super::allocation::Allocation;
use super::executor::{IsparkExecutor, iteration_s, spread};
use super::job::{IsparkJob, PARTITIONS};
use super::outcome::{IsparkCounts, IsparkUsage};
use super::packing::{Handover, LatestIteration, Provision, provision};
use super::parameters::IsparkParameters;

#[derive(Debug, Clone)]
pub(super) struct IsparkApplication<'a> {
    job: &'a IsparkJob,
    parameters: &'a IsparkParameters,
    allocation: Allocation,
    executors: Vec<IsparkExecutor>,
    /// The number of additional executors that the application can use.
    pub(super) wants: usize,
    /// The current iteration.
    iteration: usize,
    elapsed_s: f64,
    /// The highest utilization of an executor in earlier iterations.
    highest: Resources,
    /// The time before the next iteration for starts of executors or moves of data.
    delay_s: f64,
}

impl<'a> IsparkApplication<'a> {
    pub(super) fn new(
        job: &'a IsparkJob,
        parameters: &'a IsparkParameters,
        allocation: Allocation,
        executors: usize,
    ) -> Self {
        let wants = match allocation {
            Allocation::Dynamic => parameters.most_executors.min(PARTITIONS) - executors,
            Allocation::Static | Allocation::Packed => 0,
        };
        Self {
            job,
            parameters,
            allocation,
            executors: spread(executors),
            wants,
            iteration: 0,
            elapsed_s: 0.0,
            highest: Resources::ZERO,
            delay_s: parameters.start_s,
        }
    }

    pub(super) fn held(&self) -> usize {
        self.executors.len()
    }

    /// Begins the next iteration and returns its length.
    pub(super) fn begin(&mut self, usage: &mut IsparkUsage) -> f64 {
        self.elapsed_s = iteration_s(self.job, self.iteration, &self.executors);
        let delay_s = std::mem::take(&mut self.delay_s);
        usage.held(self.held(), delay_s + self.elapsed_s);
        for used in self.usage() {
            usage.used(used, self.elapsed_s);
        }
        delay_s + self.elapsed_s
    }

    /// Ends the iteration; returns false after the last.
    pub(super) fn end(&mut self, counts: &mut IsparkCounts) -> bool {
        counts.iterations += 1;
        let goes_on = self.iteration + 1 < self.job.iterations.len();
        if goes_on && self.allocation == Allocation::Packed {
            self.provision(counts);
        }
        self.iteration += 1;
        goes_on
    }

    /// Of each executor in the current iteration.
    fn usage(&self) -> Vec<Resources> {
        let iteration = &self.job.iterations[self.iteration];
        let memory_bytes = self.parameters.executor_memory_bytes;
        let executors = self.executors.iter();
        executors.map(|one| one.usage(self.job, iteration, self.elapsed_s, memory_bytes)).collect()
    }

    fn provision(&mut self, counts: &mut IsparkCounts) {
        let usage = self.usage();
        self.highest = usage.iter().fold(self.highest, |highest, one| highest.max(*one));
        let iteration = LatestIteration {
            elapsed_ms: (self.elapsed_s * 1e3) as i64,
            expected_ms: (self.job.iterations[self.iteration].expected_s * 1e3) as i64,
            highest: self.highest,
        };
        let missing = self.parameters.executors - self.held();
        match provision(&usage, &iteration, self.parameters) {
            Provision::Pack(handovers) => {
                counts.handed_over += handovers.len() as u64;
                self.wants = 0;
                self.hand_over(&handovers);
            }
            Provision::Reprovision if missing > 0 => {
                counts.reprovisioned += 1;
                self.wants = missing;
            }
            Provision::Reprovision | Provision::Keep => {}
        }
    }

    /// Ends the givers; receivers take over the givers' streams.
    fn hand_over(&mut self, handovers: &[Handover]) {
        let mut received_bytes = vec![0.0; self.held()];
        for Handover { giver, receiver } in handovers {
            received_bytes[*receiver] += self.cached_bytes(*giver);
            let streams = std::mem::take(&mut self.executors[*giver].streams);
            self.executors[*receiver].streams.extend(streams);
        }
        self.executors.retain(|executor| !executor.streams.is_empty());
        self.moves(&received_bytes);
    }

    /// Takes free executors for the next iteration.
    pub(super) fn gains(&mut self, executors: usize, counts: &mut IsparkCounts) {
        self.wants -= executors;
        if self.allocation == Allocation::Dynamic {
            // Any free executor takes a task.
            self.executors = spread(self.held() + executors);
            return;
        }
        counts.given_back += executors as u64;
        let mut received_bytes = Vec::new();
        for _ in 0..executors {
            let packed = self.executors.iter_mut().max_by_key(|one| one.streams.len());
            let Some(stream) = packed.and_then(|one| one.streams.pop()) else {
                break;
            };
            self.executors.push(IsparkExecutor { streams: vec![stream] });
            received_bytes.push(self.cached_bytes(self.held() - 1));
        }
        self.moves(&received_bytes);
    }

    fn cached_bytes(&self, executor: usize) -> f64 {
        let iteration = &self.job.iterations[self.iteration.min(self.job.iterations.len() - 1)];
        self.executors[executor].memory_bytes(self.job, iteration)
    }

    /// All receivers receive data in parallel.
    fn moves(&mut self, received_bytes: &[f64]) {
        let most_bytes = received_bytes.iter().copied().fold(0.0, f64::max);
        self.delay_s += most_bytes / self.parameters.handover_bytes_per_s;
    }
}
