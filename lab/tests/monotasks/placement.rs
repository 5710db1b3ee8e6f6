//! The placement of tasks on workers.

use elastane_lab::monotasks::{Event, Job, Kind, Parameters, Placement, System, Task, simulate};

use crate::{EJF, SRJF, job, one_stage, run, some_mixed, task};

#[test]
fn no_task_is_placed_where_a_resource_that_it_needs_has_ept_of_work() {
    // Three fetches of 2 s exceed the EPT of 5 s, so no fourth is placed.
    let fetch = task(2.0 * 1.25e9, 0.0, 0.0);
    let jobs = [job(0.0, vec![one_stage(vec![fetch; 500])])];
    let mut at_once = vec![0; 20];
    simulate(&jobs, &EJF, &Parameters::default(), |now_s, event| {
        if let Event::Placed { machine, .. } = event
            && now_s < 1.0
        {
            at_once[*machine] += 1;
        }
    })
    .unwrap();
    assert_eq!(at_once, [3; 20]);
    // Tasks without network work are still placed there.
    let mut jobs = jobs.to_vec();
    jobs.push(job(0.1, vec![one_stage(vec![task(0.0, 1.0, 0.0); 600])]));
    assert!(run(&jobs, &EJF).completion_s[1] < 2.0);
}

#[test]
fn d_is_above_0_for_every_resource_that_a_placed_task_needs() {
    let jobs = some_mixed(10);
    let tasks: Vec<&Task> =
        jobs.iter().flat_map(|job| &job.stages).flat_map(|stage| &stage.tasks).collect();
    for system in [EJF, SRJF] {
        simulate(&jobs, &system, &Parameters::default(), |_, event| {
            if let Event::Placed { task, idle, .. } = event {
                for kind in Kind::ALL {
                    let needs = tasks[*task].work[kind as usize] > 0.0;
                    assert!(!needs || idle[kind as usize] > 0.0);
                }
            }
        })
        .unwrap();
    }
}

#[test]
fn memory_is_never_above_capacity() {
    // By m2i a task takes a fifth of a machine; its share of the job's request is larger.
    let hungry = Task { input_bytes: 25e9, memory_bytes: 20e9, ..task(1e8, 1.0, 0.0) };
    let jobs: Vec<Job> = (0..5)
        .map(|at| job(f64::from(at), vec![one_stage(vec![hungry; 150])]))
        .map(|job| Job { memory_bytes: 4e12, ..job })
        .collect();
    for system in [EJF, SRJF, System::placing(Placement::Capacity)] {
        let mut held = [0; 20];
        let mut most = 0;
        let mut machine_of = vec![0; 750];
        simulate(&jobs, &system, &Parameters::default(), |_, event| match event {
            Event::Placed { task, machine, allocated_memory_bytes, .. } => {
                held[*machine] += 1;
                machine_of[*task] = *machine;
                most = most.max(held[*machine]);
                assert!(*allocated_memory_bytes <= 128e9);
            }
            Event::TaskEnded { task, .. } => held[machine_of[*task]] -= 1,
            _ => {}
        })
        .unwrap();
        assert_eq!(most, 5, "25 GB of 128 GB each");
    }
}
