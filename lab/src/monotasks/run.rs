//! Event-driven simulation of a workload on a system.

use elastane_sim::summary::mean;
use serde::Serialize;

use super::containers::Executors;
use super::job::Job;
use super::meter::Held;
use super::parameters::Parameters;
use super::scheduler::Scheduler;
use super::system::{Engine, System};
use super::workers::WorkerQueues;
use super::world::{Event, Queues, Watch, World};

/// The result of one system on one workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// Each job's time from its submission to its end.
    pub completion_s: Vec<f64>,
    /// SE of CPU: core-seconds allocated over those available until the end.
    pub cpu_allocated: f64,
    /// UE of CPU: core-seconds used over those allocated.
    pub cpu_used: f64,
    /// SE of memory.
    pub memory_allocated: f64,
    /// UE of memory.
    pub memory_used: f64,
}

impl Outcome {
    /// The mean time from submission to end.
    pub fn mean_completion_s(&self) -> f64 {
        mean(&self.completion_s)
    }
}

/// A task fits no machine, so the run cannot end.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("job {job} never ends: one of its tasks fits no machine; {jobs} jobs did not end")]
pub struct Stuck {
    /// The number of jobs that did not end.
    pub jobs: usize,
    /// The name of the first job that did not end.
    pub job: String,
}

/// Runs the jobs; the same input gives the same outcome, bit by bit.
pub fn simulate(
    jobs: &[Job],
    system: &System,
    parameters: &Parameters,
    mut watch: impl FnMut(f64, &Event),
) -> Result<Outcome, Stuck> {
    let watch: &mut Watch<'_> = &mut watch;
    match system {
        System::Workers(settings) => {
            let world = World::new(jobs, parameters, Queues::Bounded, |_| 1.0, watch);
            let scheduler = WorkerQueues::new(*settings, &world);
            run(world, scheduler)
        }
        System::Containers(settings) => {
            let cpu = |job: &Job| match settings.engine {
                Engine::Ursa => 1.0,
                Engine::Spark => job.spark_cpu,
                Engine::Tez => parameters.containers.tez_cpu,
            };
            let world = World::new(jobs, parameters, Queues::Unbounded, cpu, watch);
            let scheduler = Executors::new(*settings, &world);
            run(world, scheduler)
        }
    }
}

/// After this number of rounds without a running task, the run cannot end.
const HOPELESS_ROUNDS: u32 = 1_000;

fn run(mut world: World<'_>, mut scheduler: impl Scheduler) -> Result<Outcome, Stuck> {
    let mut next_round = 0_u64;
    let mut idle_rounds = 0_u32;
    while world.progress.unfinished_jobs() > 0 {
        let round_s = if scheduler.waits() {
            next_round = next_round.max((world.now_s / scheduler.round_s()).ceil() as u64);
            (next_round as f64 * scheduler.round_s()).max(world.now_s)
        } else {
            f64::INFINITY
        };
        let ready_s = world.progress.next_ready_s();
        let (end_s, server) = world.next_end();
        if end_s <= ready_s && end_s <= round_s && end_s.is_finite() {
            world.now_s = end_s.max(world.now_s);
            if let Some((task, kind, machine)) = world.end_next(server) {
                scheduler.monotask_ended(&mut world, task, kind, machine);
            }
            idle_rounds = 0;
        } else if ready_s <= round_s && ready_s.is_finite() {
            world.now_s = ready_s.max(world.now_s);
            if let Some(stage) = world.progress.take_ready() {
                world.tell(&Event::StageReady { stage: stage as usize });
                scheduler.stage_ready(&mut world, stage);
            }
            idle_rounds = 0;
        } else if round_s.is_finite() && idle_rounds < HOPELESS_ROUNDS {
            world.now_s = round_s;
            next_round += 1;
            scheduler.round(&mut world);
            idle_rounds = if world.is_idle() { idle_rounds + 1 } else { 0 };
        } else {
            let job = world.progress.first_unfinished();
            return Err(Stuck {
                jobs: world.progress.unfinished_jobs(),
                job: job.map_or_else(String::new, |job| job.name.clone()),
            });
        }
    }
    Ok(outcome(world))
}

fn outcome(mut world: World<'_>) -> Outcome {
    let jobs = world.progress.jobs;
    let completion_s = world
        .progress
        .ended_s()
        .zip(jobs)
        .map(|(ended_s, job)| ended_s - job.submitted_s)
        .collect();
    let first_s = jobs.iter().map(|job| job.submitted_s).fold(f64::INFINITY, f64::min);
    let makespan_s = (world.now_s - first_s).max(0.0);
    let machines = world.parameters.machines;
    let core_s = (machines.count * machines.cores) as f64 * makespan_s;
    let byte_s = machines.count as f64 * machines.memory_bytes * makespan_s;
    let [allocated_core_s, used_core_s, allocated_byte_s, used_byte_s] =
        [Held::AllocatedCores, Held::UsedCores, Held::AllocatedMemory, Held::UsedMemory]
            .map(|held| world.held_over_time(held));
    Outcome {
        makespan_s,
        completion_s,
        cpu_allocated: over(allocated_core_s, core_s),
        cpu_used: over(used_core_s, allocated_core_s),
        memory_allocated: over(allocated_byte_s, byte_s),
        memory_used: over(used_byte_s, allocated_byte_s),
    }
}

fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
