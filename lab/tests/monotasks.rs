//! Ursa at its own grain.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "monotasks/reference.rs"]
mod reference;

use elastane_lab::monotasks::{
    Engine, Event, Job, JobOrder, Jobs, Kind, Machines, MonotaskError, Outcome, Parameters,
    Placement, Server, Sharing, Stage, System, Task, WorkerSettings, Workers, lower_bound_s,
    simulate,
};
use proptest::prelude::*;

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
        System::placing(Placement::Tetris {
            with_network: false,
        }),
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
    Task {
        work: [network_bytes, cpu_s, disk_bytes],
        input_bytes: 1e6,
        memory_bytes: 1e6,
    }
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
    Stage {
        parents: Vec::new(),
        tasks,
    }
}

/// Ends every monotask of a server, and gives the times.
fn drain(server: &mut Server) -> Vec<(f64, u32)> {
    let mut ends = Vec::new();
    while server.next_end_s().is_finite() {
        let end_s = server.next_end_s();
        ends.push((end_s, server.end_next(end_s).unwrap()));
    }
    ends
}

fn shared(rate: f64, limit: usize) -> Sharing {
    Sharing {
        rate,
        most_each: rate,
        limit,
        undisturbed: limit,
        interference: 0.0,
    }
}

#[test]
fn a_queue_bounds_who_shares_and_lets_the_highest_priority_go_first() {
    let mut server = Server::new(shared(10.0, 2));
    for (task, work, priority) in [
        (0, 10.0, 0.0),
        (1, 20.0, 0.0),
        (2, 10.0, 1.0),
        (3, 10.0, 2.0),
    ] {
        server.submit(0.0, task, work, priority);
    }
    // Two at 5 a second: task 0 ends at 2 s; then 3, which came last, shares with 1 until both end at 4 s.
    assert_eq!((server.active(), server.waiting()), (2, 2));
    assert_eq!(drain(&mut server), [(2.0, 0), (4.0, 1), (4.0, 3), (5.0, 2)]);
}

#[test]
fn more_than_are_undisturbed_lose_some_of_the_rate() {
    let sharing = Sharing {
        limit: usize::MAX,
        undisturbed: 2,
        interference: 0.5,
        ..shared(10.0, 0)
    };
    let mut server = Server::new(sharing);
    for task in 0..4 {
        server.submit(0.0, task, 10.0, 0.0);
    }
    // Twice as many as are undisturbed: 10 / 1.5 a second for 40.
    assert!((drain(&mut server)[3].0 - 6.0).abs() < 1e-9);
}

proptest! {
    #[test]
    fn queues_conserve_work(
        works in prop::collection::vec((0.1..50.0_f64, 0.0..3.0_f64), 1..40),
        limit in 1_usize..6,
    ) {
        let mut server = Server::new(shared(7.0, limit));
        let mut left = 0.0;
        for (task, (work, priority)) in works.iter().enumerate() {
            server.submit(0.0, task as u32, *work, *priority);
            left += work;
        }
        let mut now_s = 0.0;
        while server.next_end_s().is_finite() {
            let end_s = server.next_end_s();
            left -= 7.0 * (end_s - now_s);
            now_s = end_s;
            server.end_next(now_s);
            prop_assert!((server.work_left(now_s) - left).abs() < 1e-6);
        }
        prop_assert!(left.abs() < 1e-6);
    }
}

#[test]
fn a_stage_starts_only_when_its_parents_are_done() {
    let jobs = some_mixed(6);
    let stages: Vec<(usize, &Stage)> = jobs
        .iter()
        .scan(0, |first, job| {
            let mine = *first;
            *first += job.stages.len();
            Some(job.stages.iter().map(move |stage| (mine, stage)))
        })
        .flatten()
        .collect();
    for system in all_systems() {
        let mut left: Vec<usize> = stages.iter().map(|(_, stage)| stage.tasks.len()).collect();
        let mut placed = 0;
        simulate(
            &jobs,
            &system,
            &Parameters::default(),
            |_, event| match event {
                Event::Placed { stage, .. } => {
                    placed += 1;
                    let (first, of) = stages[*stage];
                    assert!(of.parents.iter().all(|parent| left[first + parent] == 0));
                }
                Event::TaskEnded { stage, .. } => left[*stage] -= 1,
                _ => {}
            },
        )
        .unwrap();
        assert_eq!(
            placed,
            stages
                .iter()
                .map(|(_, stage)| stage.tasks.len())
                .sum::<usize>()
        );
        assert!(left.iter().all(|left| *left == 0), "{system:?}");
    }
}

#[test]
fn every_monotask_runs_once_and_in_its_order() {
    let jobs = some_mixed(4);
    let tasks: Vec<&Task> = jobs
        .iter()
        .flat_map(|job| &job.stages)
        .flat_map(|stage| &stage.tasks)
        .collect();
    for system in all_systems() {
        let mut ran: Vec<Vec<Kind>> = vec![Vec::new(); tasks.len()];
        simulate(&jobs, &system, &Parameters::default(), |_, event| {
            if let Event::MonotaskEnded { task, kind, .. } = event {
                ran[*task].push(*kind);
            }
        })
        .unwrap();
        for (task, ran) in tasks.iter().zip(ran) {
            let needed = Kind::ALL
                .into_iter()
                .filter(|kind| task.work[*kind as usize] > 0.0);
            assert_eq!(ran, needed.collect::<Vec<_>>());
        }
    }
}

#[test]
fn no_task_goes_where_what_it_needs_is_taken_for_all_of_ept() {
    // Fetches of 2 s each: 3 reach past an EPT of 5 s, a fourth would come on top.
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
    // What needs no network goes there all the same.
    let mut jobs = jobs.to_vec();
    jobs.push(job(0.1, vec![one_stage(vec![task(0.0, 1.0, 0.0); 600])]));
    assert!(run(&jobs, &EJF).completion_s[1] < 2.0);
}

#[test]
fn d_is_above_0_wherever_a_task_goes_that_needs_it() {
    let jobs = some_mixed(10);
    let tasks: Vec<&Task> = jobs
        .iter()
        .flat_map(|job| &job.stages)
        .flat_map(|stage| &stage.tasks)
        .collect();
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
    // Each task takes a fifth of a machine by m2i, and is allowed more by its job's request.
    let hungry = Task {
        input_bytes: 25e9,
        memory_bytes: 20e9,
        ..task(1e8, 1.0, 0.0)
    };
    let jobs: Vec<Job> = (0..5)
        .map(|at| job(f64::from(at), vec![one_stage(vec![hungry; 150])]))
        .map(|job| Job {
            memory_bytes: 4e12,
            ..job
        })
        .collect();
    for system in [EJF, SRJF, System::placing(Placement::Capacity)] {
        let mut held = [0; 20];
        let mut most = 0;
        let mut machine_of = vec![0; 750];
        simulate(
            &jobs,
            &system,
            &Parameters::default(),
            |_, event| match event {
                Event::Placed {
                    task,
                    machine,
                    allocated_memory_bytes,
                    ..
                } => {
                    held[*machine] += 1;
                    machine_of[*task] = *machine;
                    most = most.max(held[*machine]);
                    assert!(*allocated_memory_bytes <= 128e9);
                }
                Event::TaskEnded { task, .. } => held[machine_of[*task]] -= 1,
                _ => {}
            },
        )
        .unwrap();
        assert_eq!(most, 5, "25 GB of 128 GB each");
    }
}

#[test]
fn ejf_is_better_for_the_first_job_than_no_order() {
    let jobs = Jobs::ExpectableMixed.draw(1);
    let unordered = System::Workers(WorkerSettings {
        orders_jobs: false,
        orders_monotasks: false,
        ..WorkerSettings::ursa(JobOrder::EarliestFirst)
    });
    let [ordered, unordered] = [EJF, unordered].map(|system| run(&jobs, &system).completion_s[0]);
    assert!(ordered < unordered, "{ordered} {unordered}");
}

#[test]
fn srjf_has_the_better_mean_completion_when_sizes_differ() {
    let jobs = Jobs::ExpectableMixed.draw(1);
    let [srjf, ejf] = [SRJF, EJF].map(|system| run(&jobs, &system).mean_completion_s());
    assert!(srjf <= ejf, "{srjf} {ejf}");
}

#[test]
fn expectable_jobs_alone_take_what_was_published() {
    let jobs = Jobs::ExpectableMixed.draw(1);
    for (job, published_s) in jobs.iter().zip([40.0, 22.0]) {
        let alone = [Job {
            submitted_s: 0.0,
            ..job.clone()
        }];
        let took_s = run(&alone, &EJF).makespan_s;
        assert!(
            (took_s / published_s - 1.0).abs() < 0.05,
            "{took_s} for {published_s}"
        );
    }
}

#[test]
fn expectable_jobs_reach_their_ideal_completion() {
    let outcome = run(&Jobs::Expectable.draw(1), &EJF);
    for (at, took_s) in outcome.completion_s.iter().enumerate() {
        // 40 and 48 s, and 40 s more for each two that go before.
        let ideal_s = 40.0 * (at / 2 + 1) as f64 + 8.0 * (at % 2) as f64;
        assert!(
            (took_s - ideal_s).abs() < 0.05 * ideal_s + 6.0,
            "job {at}: {took_s}, ideal {ideal_s}"
        );
    }
    assert!(outcome.makespan_s < 1.03 * 808.0);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for workload in Jobs::ALL {
        let draw = |seed| format!("{:?}", &workload.draw(seed)[..2]);
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
    let jobs = some_mixed(8);
    for system in all_systems() {
        let bytes = || serde_json::to_string(&run(&jobs, &system)).unwrap();
        assert_eq!(bytes(), bytes());
    }
}

#[test]
fn no_system_beats_the_lower_bound_or_uses_more_than_there_is() {
    let jobs = some_mixed(8);
    let bound_s = lower_bound_s(&jobs, &Parameters::default());
    for system in all_systems() {
        let outcome = run(&jobs, &system);
        assert!(outcome.makespan_s >= bound_s, "{system:?}");
        for share in [
            outcome.cpu_used,
            outcome.memory_allocated,
            outcome.memory_used,
        ] {
            assert!((0.0..=1.0 + 1e-9).contains(&share), "{system:?}: {share}");
        }
    }
}

#[test]
fn the_lower_bound_is_the_larger_of_work_and_chain() {
    let parameters = Parameters::default();
    // 6,000 core-seconds on 600 cores.
    let wide = job(0.0, vec![one_stage(vec![task(0.0, 1.0, 0.0); 6_000])]);
    assert!((lower_bound_s(std::slice::from_ref(&wide), &parameters) - 10.3).abs() < 1e-9);
    // Two stages of 20 s, one after the other, each known 0.3 s after it could be.
    let then = Stage {
        parents: vec![0],
        tasks: vec![task(0.0, 20.0, 0.0)],
    };
    let long = job(5.0, vec![one_stage(vec![task(0.0, 20.0, 0.0)]), then]);
    assert!((lower_bound_s(&[wide, long], &parameters) - 45.6).abs() < 1e-9);
}

#[test]
fn what_is_no_workload_is_refused_by_name() {
    let refused = |job: Job| simulate(&[job], &EJF, &Parameters::default(), |_, _| {}).unwrap_err();
    let stage = || one_stage(vec![task(0.0, 1.0, 0.0)]);
    let message = refused(job(f64::NAN, vec![stage()])).to_string();
    assert_eq!(
        message,
        "job job: submitted_s is NaN, and must be a number of at least 0"
    );
    let message = refused(job(0.0, vec![one_stage(Vec::new())])).to_string();
    assert_eq!(message, "job job: stage 0 is empty");
    let circle = Stage {
        parents: vec![0],
        ..stage()
    };
    let message = refused(job(0.0, vec![circle])).to_string();
    assert_eq!(
        message,
        "job job, stage 0: parent 0 is not an earlier stage"
    );
    let giant = Task {
        input_bytes: 1e12,
        ..task(0.0, 1.0, 0.0)
    };
    let error = refused(job(0.0, vec![one_stage(vec![giant])]));
    assert!(
        matches!(error, MonotaskError::Stuck { jobs: 1, .. }),
        "{error}"
    );
}

/// Small jobs on machines of a core or two, so that everything is short of something.
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
            let stages = stages
                .into_iter()
                .enumerate()
                .map(|(at, (tasks, parents))| Stage {
                    parents: (0..at)
                        .filter(|parent| parents >> parent & 1 == 1)
                        .collect(),
                    tasks,
                });
            list.push(Job {
                memory_to_input: 1.0,
                ..job(submitted_s, stages.collect())
            });
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
    fn ursa_is_what_the_plain_reference_says(jobs in tiny(), cores in 1_usize..4) {
        let placement = Placement::Ursa { by_stage: true, by_network: true };
        ends_alike(&jobs, placement, &tiny_machines(1, cores))?;
    }

    #[test]
    fn ursa_by_f_is_what_the_plain_reference_says(jobs in tiny(), cores in 1_usize..4) {
        let placement = Placement::Ursa { by_stage: true, by_network: true };
        let mut parameters = tiny_machines(1, cores);
        parameters.workers.score_by_f = true;
        ends_alike(&jobs, placement, &parameters)?;
    }

    #[test]
    fn capacity_is_what_the_plain_reference_says(
        jobs in tiny(),
        cores in 1_usize..3,
        machines in 1_usize..4,
    ) {
        ends_alike(&jobs, Placement::Capacity, &tiny_machines(machines, cores))?;
    }
}
