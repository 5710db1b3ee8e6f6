//! The baselines on Ursa's workers: a task holds a core and its memory from placement to end.

use super::{WorkerQueues, memory_bytes, network_bytes_per_s};
use crate::monotasks::world::World;

/// D, which these baselines ignore.
const NOT_LOOKED_AT: [f64; 3] = [1.0; 3];

impl WorkerQueues {
    /// Capacity: jobs in order; each machine in turn gets one task, as heartbeats arrive.
    pub(super) fn place_in_order(&mut self, world: &mut World<'_>) {
        let mut stages = self.ready.clone();
        stages.sort_by(|left, right| {
            let ranks = [*right, *left].map(|stage| self.weighted_rank(world, stage));
            ranks[0].total_cmp(&ranks[1])
        });
        self.first = (self.first + 1) % self.workers.len().max(1);
        for stage in stages {
            let mut refused = 0;
            let mut machine = self.first;
            while refused < self.workers.len() && world.progress.stage(stage).unplaced_tasks() > 0 {
                if self.has_slot(world, stage, machine) {
                    self.place(world, stage, machine, NOT_LOOKED_AT);
                    refused = 0;
                } else {
                    refused += 1;
                }
                machine = (machine + 1) % self.workers.len();
            }
        }
    }

    /// Tetris: each machine, while a task fits, gets the task with the largest dot product of available
    /// capacity and peak demand, both over the machine's capacity.
    pub(super) fn place_by_alignment(&mut self, world: &mut World<'_>, with_network: bool) {
        for machine in 0..self.workers.len() {
            loop {
                let mut best: Option<(u32, f64)> = None;
                for &stage in &self.ready {
                    if world.progress.stage(stage).unplaced_tasks() == 0
                        || !self.has_slot(world, stage, machine)
                    {
                        continue;
                    }
                    if let Some(alignment) = self.alignment(world, stage, machine, with_network)
                        && best.is_none_or(|(_, best)| alignment > best)
                    {
                        best = Some((stage, alignment));
                    }
                }
                let Some((stage, _)) = best else {
                    break;
                };
                self.place(world, stage, machine, NOT_LOOKED_AT);
            }
        }
    }

    fn has_slot(&self, world: &World<'_>, stage: u32, machine: usize) -> bool {
        let worker = &self.workers[machine];
        let task = world.progress.stage(stage).next;
        worker.tasks < world.parameters.machines.cores
            && memory_bytes(world, task) <= worker.memory_free_bytes
    }

    /// None if the peak of the task exceeds the free network rate. A task whose peak exceeds the rate
    /// of a machine gets an empty one.
    fn alignment(
        &self,
        world: &World<'_>,
        stage: u32,
        machine: usize,
        with_network: bool,
    ) -> Option<f64> {
        let worker = &self.workers[machine];
        let machines = world.parameters.machines;
        let task = world.progress.stage(stage).next;
        let free_cores = (machines.cores - worker.tasks) as f64;
        let cores = machines.cores as f64;
        let memory = machines.memory_bytes * machines.memory_bytes;
        let mut alignment = free_cores / (cores * cores)
            + worker.memory_free_bytes * memory_bytes(world, task) / memory;
        if with_network {
            let capacity = machines.network_bytes_per_s;
            let peak = network_bytes_per_s(world, task).min(capacity);
            let free = capacity - worker.reserved_network_bytes_per_s;
            if peak > free {
                return None;
            }
            alignment += free * peak / (capacity * capacity);
        }
        Some(alignment)
    }
}
