//! Executors in YARN's containers, which hold cores and memory for the life of the executor.

mod allocation;
mod executor;

use std::collections::VecDeque;

use self::executor::MonotaskExecutor;
use super::job::Kind;
use super::scheduler::Scheduler;
use super::system::{ContainerSettings, Engine};
use super::world::World;

/// A job's executors and waiting stages.
#[derive(Debug, Default, Clone)]
struct MonotaskApplication {
    /// Stages with waiting tasks.
    ready: VecDeque<u32>,
    waiting_tasks: usize,
    running_tasks: usize,
    /// Executors that hold a container.
    executors: Vec<usize>,
    /// Dynamic allocation: the number of executors to request next. It doubles with each heartbeat at
    /// which tasks wait.
    ramp: usize,
    has_come: bool,
    has_ended: bool,
}

/// The free resources of a node in YARN.
#[derive(Debug, Clone, Copy)]
struct Node {
    free_cores: usize,
    free_memory_bytes: f64,
}

pub(super) struct Executors {
    settings: ContainerSettings,
    heartbeat_s: f64,
    nodes: Vec<Node>,
    applications: Vec<MonotaskApplication>,
    executors: Vec<MonotaskExecutor>,
    /// Executors that are starting.
    starting: VecDeque<usize>,
    executor_of: Vec<u32>,
    first: usize,
}

impl Executors {
    pub(super) fn new(settings: ContainerSettings, world: &World<'_>) -> Self {
        let machines = world.parameters.machines;
        let node = Node {
            free_cores: machines.cores * settings.oversubscription,
            free_memory_bytes: machines.memory_bytes,
        };
        Self {
            settings,
            heartbeat_s: world.parameters.containers.heartbeat_s,
            nodes: vec![node; machines.count],
            applications: vec![MonotaskApplication::default(); world.progress.jobs.len()],
            executors: Vec::new(),
            starting: VecDeque::new(),
            executor_of: vec![0; world.progress.tasks.len()],
            first: 0,
        }
    }

    /// Starts tasks on the executors of a job, those with the fewest tasks first.
    fn dispatch(&mut self, world: &mut World<'_>, job: usize) {
        for tasks in 0..self.tasks_at_a_time(world) {
            for at in 0..self.applications[job].executors.len() {
                let executor = self.applications[job].executors[at];
                if self.executors[executor].tasks == tasks && !self.start_task(world, job, executor)
                {
                    return;
                }
            }
        }
    }

    /// Maximum tasks of an executor. With monotasks twice its cores, so that tasks fetch ahead.
    fn tasks_at_a_time(&self, world: &World<'_>) -> usize {
        let cores = executor_cores(self.settings.engine, world);
        match self.settings.engine {
            Engine::Ursa => 2 * cores,
            Engine::Spark | Engine::Tez => cores,
        }
    }

    /// Returns whether a task waits. An executor that is still starting gets none.
    fn start_task(&mut self, world: &mut World<'_>, job: usize, executor: usize) -> bool {
        let application = &mut self.applications[job];
        let Some(&stage) = application.ready.front() else {
            return false;
        };
        if !self.executors[executor].runs(world.now_s) {
            return true;
        }
        let task = world.progress.place_next(stage);
        if world.progress.stage(stage).unplaced_tasks() == 0 {
            application.ready.pop_front();
        }
        application.waiting_tasks -= 1;
        application.running_tasks += 1;
        self.executors[executor].tasks += 1;
        self.executor_of[task as usize] = executor as u32;
        let machine = self.executors[executor].machine;
        let allocated_memory_bytes =
            world.parameters.machines.memory_bytes - self.nodes[machine].free_memory_bytes;
        world.placed([stage, task], machine, [1.0; 3], allocated_memory_bytes);
        self.go_on(world, task, None);
        true
    }

    fn go_on(&mut self, world: &mut World<'_>, task: u32, after: Option<Kind>) {
        match world.next_kind(task, after) {
            Some(kind) => {
                let executor = self.executor_of[task as usize] as usize;
                self.executors[executor].submit(world, kind, task);
            }
            None => self.end_task(world, task),
        }
    }

    fn end_task(&mut self, world: &mut World<'_>, task: u32) {
        let executor = self.executor_of[task as usize] as usize;
        let job = self.executors[executor].job;
        self.executors[executor].tasks -= 1;
        self.executors[executor].idle_since_s = world.now_s;
        self.applications[job].running_tasks -= 1;
        if world.end_task(task) {
            self.applications[job].has_ended = true;
            for executor in std::mem::take(&mut self.applications[job].executors) {
                self.release(world, executor);
            }
        } else {
            self.start_task(world, job, executor);
        }
    }
}

impl Scheduler for Executors {
    fn stage_ready(&mut self, world: &mut World<'_>, stage: u32) {
        let state = world.progress.stage(stage);
        let job = state.job as usize;
        let application = &mut self.applications[job];
        application.has_come = true;
        application.waiting_tasks += state.unplaced_tasks() as usize;
        application.ready.push_back(stage);
        self.dispatch(world, job);
    }

    fn monotask_ended(&mut self, world: &mut World<'_>, task: u32, kind: Kind, _machine: usize) {
        let executor = self.executor_of[task as usize] as usize;
        self.executors[executor].monotask_ended(world, kind);
        self.go_on(world, task, Some(kind));
    }

    fn round(&mut self, world: &mut World<'_>) {
        self.release_idle(world);
        while let Some(&executor) = self.starting.front()
            && self.executors[executor].runs(world.now_s)
        {
            self.starting.pop_front();
            self.executors[executor].idle_since_s = world.now_s;
            let job = self.executors[executor].job;
            self.dispatch(world, job);
        }
        self.allocate(world);
    }

    fn waits(&self) -> bool {
        self.applications.iter().any(|application| application.has_come && !application.has_ended)
    }

    fn round_s(&self) -> f64 {
        self.heartbeat_s
    }
}

fn executor_cores(engine: Engine, world: &World<'_>) -> usize {
    match engine {
        Engine::Ursa | Engine::Spark => world.parameters.containers.executor_cores,
        Engine::Tez => 1,
    }
}
