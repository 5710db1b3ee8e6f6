//! Ursa in units of monotasks.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod against_reference;
mod order;
mod outcomes;
mod placement;
mod reference;
mod server;

use elastane_lab::monotasks::{
    Engine, Job, JobOrder, Jobs, Outcome, Parameters, Placement, Stage, System, Task, simulate,
};

const EJF: System = System::ursa(JobOrder::EarliestFirst);
const SRJF: System = System::ursa(JobOrder::SmallestRemainingFirst);

fn all_systems() -> Vec<System> {
    vec![
        EJF,
        SRJF,
        System::yarn(Engine::Ursa, 1),
        System::yarn(Engine::Spark, 2),
        System::yarn(Engine::Tez, 1),
        System::placing(Placement::Capacity),
        System::placing(Placement::Tetris { with_network: true }),
        System::placing(Placement::Tetris { with_network: false }),
    ]
}

fn run(jobs: &[Job], system: &System) -> Outcome {
    simulate(jobs, system, &Parameters::default(), |_, _| {}).unwrap()
}

fn some_mixed(jobs: usize) -> Vec<Job> {
    let mut drawn = Jobs::Mixed.draw(3);
    drawn.truncate(jobs);
    drawn
}

fn task(network_bytes: f64, cpu_s: f64, disk_bytes: f64) -> Task {
    Task { work: [network_bytes, cpu_s, disk_bytes], input_bytes: 1e6, memory_bytes: 1e6 }
}

fn job(submitted_s: f64, stages: Vec<Stage>) -> Job {
    Job {
        name: "job".to_owned(),
        submitted_s,
        memory_bytes: 1e12,
        memory_to_input: 1.0,
        spark_cpu: 1.0,
        stages,
    }
}

fn one_stage(tasks: Vec<Task>) -> Stage {
    Stage { parents: Vec::new(), tasks }
}
