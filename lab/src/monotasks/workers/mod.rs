//! Ursa's workers: tasks are placed in rounds, and their monotasks wait in queues.

mod admission;
mod load;
mod memory;
mod rank;
mod slots;
mod stages;

pub use self::memory::memory_estimate_bytes;

use self::admission::Admission;
use self::rank::rank;
use super::job::{Kind, Work, plus};
use super::meter::Held;
use super::scheduler::Scheduler;
use super::system::{Placement, WorkerSettings};
use super::world::World;

/// The scheduler's view of a worker.
#[derive(Debug, Clone)]
struct Worker {
    memory_free_bytes: f64,
    /// The work of monotasks that are not in their queue yet.
    upcoming: Work,
    /// Unfinished CPU monotasks.
    cpu_monotasks: usize,
    /// Unfinished tasks.
    tasks: usize,
    /// The network rate that Tetris reserves for the tasks.
    reserved_network_bytes_per_s: f64,
}

pub(super) struct WorkerQueues {
    settings: WorkerSettings,
    round_s: f64,
    workers: Vec<Worker>,
    admission: Admission,
    /// Stages with waiting tasks, in the order in which they became ready.
    ready: Vec<u32>,
    /// The machine with which the next round of slots starts.
    first: usize,
}

impl WorkerQueues {
    pub(super) fn new(settings: WorkerSettings, world: &World<'_>) -> Self {
        let machines = world.parameters.machines;
        let worker = Worker {
            memory_free_bytes: machines.memory_bytes,
            upcoming: [0.0; 3],
            cpu_monotasks: 0,
            tasks: 0,
            reserved_network_bytes_per_s: 0.0,
        };
        Self {
            settings,
            round_s: world.parameters.workers.round_s,
            workers: vec![worker; machines.count],
            admission: Admission::new(
                world.parameters.workers.admitted_memory
                    * machines.count as f64
                    * machines.memory_bytes,
            ),
            ready: Vec::new(),
            first: 0,
        }
    }

    /// Places the next task of a stage on a worker whose D is `idle`.
    fn place(&mut self, world: &mut World<'_>, stage: u32, machine: usize, idle: Work) {
        let task = world.progress.place_next(stage);
        let work = world.progress.task(task).work;
        let estimate_bytes = memory_bytes(world, task);
        let worker = &mut self.workers[machine];
        worker.memory_free_bytes -= estimate_bytes;
        worker.tasks += 1;
        worker.cpu_monotasks += usize::from(work[Kind::Cpu as usize] > 0.0);
        worker.reserved_network_bytes_per_s += network_bytes_per_s(world, task);
        worker.upcoming = plus(worker.upcoming, work);
        let allocated_memory_bytes =
            world.parameters.machines.memory_bytes - worker.memory_free_bytes;
        world.hold(Held::AllocatedMemory, estimate_bytes);
        world.placed([stage, task], machine, idle, allocated_memory_bytes);
        self.go_on(world, task, None, machine);
    }

    /// Queues the next monotask of a task, or ends the task.
    fn go_on(&mut self, world: &mut World<'_>, task: u32, after: Option<Kind>, machine: usize) {
        let Some(kind) = world.next_kind(task, after) else {
            self.end(world, task, machine);
            return;
        };
        let work = world.progress.task(task).work[kind as usize];
        self.workers[machine].upcoming[kind as usize] -= work;
        let priority = if self.settings.orders_monotasks {
            rank::in_queue(self.settings.order, world, world.progress.job_of(task))
        } else {
            0.0
        };
        world.submit(machine, kind, task, priority);
    }

    fn end(&mut self, world: &mut World<'_>, task: u32, machine: usize) {
        let estimate_bytes = memory_bytes(world, task);
        let worker = &mut self.workers[machine];
        worker.memory_free_bytes += estimate_bytes;
        worker.tasks -= 1;
        worker.reserved_network_bytes_per_s -= network_bytes_per_s(world, task);
        if worker.tasks == 0 {
            // Drops accumulated rounding errors.
            worker.memory_free_bytes = world.parameters.machines.memory_bytes;
            worker.upcoming = [0.0; 3];
            worker.reserved_network_bytes_per_s = 0.0;
        }
        world.hold(Held::AllocatedMemory, -estimate_bytes);
        if world.end_task(task) {
            let job = world.progress.job_of(task);
            let admitted = self.admission.ended(world.progress.jobs, job);
            self.ready.extend(admitted);
        }
    }

    fn weighted_rank(&self, world: &World<'_>, stage: u32) -> f64 {
        if self.settings.orders_jobs {
            let job = world.progress.stage(stage).job;
            world.parameters.workers.order_weight * rank(self.settings.order, world, job)
        } else {
            0.0
        }
    }
}

impl Scheduler for WorkerQueues {
    fn stage_ready(&mut self, world: &mut World<'_>, stage: u32) {
        let job = world.progress.stage(stage).job;
        let admitted = self.admission.came(world.progress.jobs, job, stage);
        self.ready.extend(admitted);
    }

    fn monotask_ended(&mut self, world: &mut World<'_>, task: u32, kind: Kind, machine: usize) {
        if kind == Kind::Cpu {
            self.workers[machine].cpu_monotasks -= 1;
        }
        self.go_on(world, task, Some(kind), machine);
    }

    fn round(&mut self, world: &mut World<'_>) {
        match self.settings.placement {
            Placement::Ursa { by_stage, by_network } => {
                self.place_stages(world, by_stage, by_network)
            }
            Placement::Capacity => self.place_in_order(world),
            Placement::Tetris { with_network } => self.place_by_alignment(world, with_network),
        }
        self.ready.retain(|stage| world.progress.stage(*stage).unplaced_tasks() > 0);
    }

    fn waits(&self) -> bool {
        !self.ready.is_empty()
    }

    fn round_s(&self) -> f64 {
        self.round_s
    }
}

/// Ursa's estimate of a task's memory.
fn memory_bytes(world: &World<'_>, task: u32) -> f64 {
    let job = &world.progress.jobs[world.progress.job_of(task) as usize];
    memory_estimate_bytes(
        world.progress.input_share(task),
        job.memory_bytes,
        job.memory_to_input,
        world.progress.task(task).input_bytes,
    )
}

/// The network rate of a task in Tetris: the mean over the task's life, if one monotask fetches at its
/// share of the worker's rate.
fn network_bytes_per_s(world: &World<'_>, task: u32) -> f64 {
    let [network_bytes, cpu_s, _] = world.progress.task(task).work;
    let parameters = world.parameters;
    let fetch_bytes_per_s = parameters.machines.network_bytes_per_s
        / parameters.workers.network_monotasks.max(1) as f64;
    let life_s = network_bytes / fetch_bytes_per_s + cpu_s;
    if network_bytes > 0.0 { network_bytes / life_s } else { 0.0 }
}
