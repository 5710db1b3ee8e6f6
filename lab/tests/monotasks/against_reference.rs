//! The engine ends every job at the same time as the plain reference.

use elastane_lab::monotasks::{
    Job, Machines, Parameters, Placement, Stage, System, Task, Workers, simulate,
};
use proptest::prelude::*;

use crate::{job, reference};

/// Small jobs on machines of one or two cores, so that each resource is scarce at times.
fn tiny() -> impl Strategy<Value = Vec<Job>> {
    let work = (0.0..3.0_f64, 0.1..3.0_f64, 0.0..2.0_f64, 0.5..4.0_f64);
    let task = work.prop_map(|(network, cpu_s, disk, input)| Task {
        // A third of the tasks fetch or write nothing.
        work: [(network - 1.0).max(0.0), cpu_s, (disk - 1.0).max(0.0)],
        input_bytes: input,
        memory_bytes: input,
    });
    let tasks = prop::collection::vec(task, 1..5);
    let stages = prop::collection::vec((tasks, any::<u64>()), 1..4);
    let jobs = prop::collection::vec((stages, 0.01..4.0_f64), 1..4);
    jobs.prop_map(|jobs| {
        let mut submitted_s = 0.0;
        let mut list = Vec::new();
        for (stages, after_s) in jobs {
            submitted_s += after_s;
            let stages = stages.into_iter().enumerate().map(|(at, (tasks, parents))| Stage {
                parents: (0..at).filter(|parent| parents >> parent & 1 == 1).collect(),
                tasks,
            });
            list.push(Job { memory_to_input: 1.0, ..job(submitted_s, stages.collect()) });
        }
        list
    })
}

fn tiny_machines(count: usize, cores: usize) -> Parameters {
    let defaults = Parameters::default();
    Parameters {
        machines: Machines {
            count,
            cores,
            memory_bytes: 10.0,
            network_bytes_per_s: 1.3,
            disk_bytes_per_s: 0.9,
        },
        workers: Workers {
            network_monotasks: 2,
            disk_monotasks: 1,
            expected_processing_s: 1.3,
            stage_bonus: 1.7,
            ..defaults.workers
        },
        ..defaults
    }
}

fn ends_alike(
    jobs: &[Job],
    placement: Placement,
    parameters: &Parameters,
) -> Result<(), TestCaseError> {
    let expected = reference::ends_s(jobs, placement, parameters);
    let outcome = simulate(jobs, &System::placing(placement), parameters, |_, _| {}).unwrap();
    for ((job, took_s), end_s) in jobs.iter().zip(outcome.completion_s).zip(expected) {
        prop_assert!((job.submitted_s + took_s - end_s).abs() < 1e-6);
    }
    Ok(())
}

proptest! {
    #[test]
    fn ursa_equals_the_plain_reference(jobs in tiny(), cores in 1_usize..4) {
        let placement = Placement::Ursa { by_stage: true, by_network: true };
        ends_alike(&jobs, placement, &tiny_machines(1, cores))?;
    }

    #[test]
    fn ursa_by_f_equals_the_plain_reference(jobs in tiny(), cores in 1_usize..4) {
        let placement = Placement::Ursa { by_stage: true, by_network: true };
        let mut parameters = tiny_machines(1, cores);
        parameters.workers.score_by_f = true;
        ends_alike(&jobs, placement, &parameters)?;
    }

    #[test]
    fn capacity_equals_the_plain_reference(
        jobs in tiny(),
        cores in 1_usize..3,
        machines in 1_usize..4,
    ) {
        ends_alike(&jobs, Placement::Capacity, &tiny_machines(machines, cores))?;
    }
}
