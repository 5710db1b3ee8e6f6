//! Allocation and release of containers.

use super::executor::MonotaskExecutor;
use super::{Executors, MonotaskApplication, executor_cores};
use crate::monotasks::meter::Held;
use crate::monotasks::system::Engine;
use crate::monotasks::world::World;

impl Executors {
    /// One heartbeat of every node in turn: applications go in the order of submission, and a node
    /// allocates at most `cores_a_heartbeat`.
    pub(super) fn allocate(&mut self, world: &mut World<'_>) {
        let cores = executor_cores(self.settings.engine, world);
        let memory_bytes = cores as f64 * world.parameters.containers.memory_per_core_bytes;
        let most = (world.parameters.containers.cores_a_heartbeat / cores).max(1);
        let machines = self.nodes.len();
        self.first = (self.first + 1) % machines.max(1);
        let (mut turn, mut given) = (0, 0);
        for job in 0..self.applications.len() {
            let mut wanted = self.wanted(world, job, cores);
            while wanted > 0 && turn < machines {
                let machine = (self.first + turn) % machines;
                let node = &mut self.nodes[machine];
                if given < most
                    && node.free_cores >= cores
                    && node.free_memory_bytes >= memory_bytes
                {
                    node.free_cores -= cores;
                    node.free_memory_bytes -= memory_bytes;
                    self.start_executor(world, job, machine);
                    wanted -= 1;
                    given += 1;
                } else {
                    turn += 1;
                    given = 0;
                }
            }
        }
    }

    /// The number of additional executors that an application requests.
    fn wanted(&mut self, world: &World<'_>, job: usize, cores: usize) -> usize {
        let most = (world.parameters.containers.most_cores_a_job / cores).max(1);
        let application = &mut self.applications[job];
        if !application.has_come || application.has_ended {
            return 0;
        }
        let has = application.executors.len();
        match self.settings.engine {
            Engine::Ursa => {
                let widest = world.progress.jobs[job]
                    .stages
                    .iter()
                    .map(|stage| stage.tasks.len())
                    .max()
                    .unwrap_or(0);
                widest.div_ceil(cores).min(most).saturating_sub(has)
            }
            Engine::Spark | Engine::Tez => {
                let tasks = application.waiting_tasks + application.running_tasks;
                let target = tasks.div_ceil(cores).min(most);
                if application.waiting_tasks == 0 || target <= has {
                    application.ramp = 1;
                    return 0;
                }
                let wanted = application.ramp.max(1).min(target - has);
                application.ramp = (2 * application.ramp.max(1)).min(most);
                wanted
            }
        }
    }

    fn start_executor(&mut self, world: &mut World<'_>, job: usize, machine: usize) {
        let containers = world.parameters.containers;
        let cores = executor_cores(self.settings.engine, world);
        let limits = match self.settings.engine {
            Engine::Ursa => [world.parameters.workers.network_monotasks, cores, cores],
            // A task holds a core, so cores bound the monotasks.
            Engine::Spark | Engine::Tez => [usize::MAX; 3],
        };
        let executor = self.executors.len();
        let runs_from_s = world.now_s + containers.start_s;
        self.executors.push(MonotaskExecutor::new(job, machine, runs_from_s, limits));
        self.applications[job].executors.push(executor);
        self.starting.push_back(executor);
        hold(world, cores, 1.0);
    }

    /// Dynamic allocation: releases executors that have idled for the timeout.
    pub(super) fn release_idle(&mut self, world: &mut World<'_>) {
        if self.settings.engine == Engine::Ursa {
            return;
        }
        let before_s = world.now_s - world.parameters.containers.idle_timeout_s;
        for job in 0..self.applications.len() {
            let (kept, idle): (Vec<usize>, Vec<usize>) = {
                let MonotaskApplication { executors, .. } = &self.applications[job];
                executors.iter().partition(|executor| {
                    let executor = &self.executors[**executor];
                    executor.tasks > 0 || executor.idle_since_s > before_s
                })
            };
            if idle.is_empty() {
                continue;
            }
            self.applications[job].executors = kept;
            for executor in idle {
                self.release(world, executor);
            }
        }
    }

    pub(super) fn release(&mut self, world: &mut World<'_>, executor: usize) {
        let cores = executor_cores(self.settings.engine, world);
        let node = &mut self.nodes[self.executors[executor].machine];
        node.free_cores += cores;
        node.free_memory_bytes += cores as f64 * world.parameters.containers.memory_per_core_bytes;
        hold(world, cores, -1.0);
    }
}

/// Meters an allocated (1) or released (−1) container.
fn hold(world: &mut World<'_>, cores: usize, sign: f64) {
    let memory_bytes = cores as f64 * world.parameters.containers.memory_per_core_bytes;
    world.hold(Held::AllocatedCores, sign * cores as f64);
    world.hold(Held::AllocatedMemory, sign * memory_bytes);
}
