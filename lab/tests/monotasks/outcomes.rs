//! Completion times, the lower bound, and runs that cannot end.

use elastane_lab::monotasks::{
    Job, JobOrder, Jobs, Parameters, Stage, System, Task, WorkerSettings, lower_bound_s, simulate,
};

use crate::{EJF, SRJF, all_systems, job, one_stage, run, some_mixed, task};

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
        let alone = [Job { submitted_s: 0.0, ..job.clone() }];
        let took_s = run(&alone, &EJF).makespan_s;
        assert!((took_s / published_s - 1.0).abs() < 0.05, "{took_s} for {published_s}");
    }
}

#[test]
fn expectable_jobs_reach_their_ideal_completion() {
    let outcome = run(&Jobs::Expectable.draw(1), &EJF);
    for (at, took_s) in outcome.completion_s.iter().enumerate() {
        // 40 and 48 s, plus 40 s for each earlier pair of jobs.
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
        for share in [outcome.cpu_used, outcome.memory_allocated, outcome.memory_used] {
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
    // Two stages of 20 s in sequence, each with the stage latency of 0.3 s.
    let then = Stage { parents: vec![0], tasks: vec![task(0.0, 20.0, 0.0)] };
    let long = job(5.0, vec![one_stage(vec![task(0.0, 20.0, 0.0)]), then]);
    assert!((lower_bound_s(&[wide, long], &parameters) - 45.6).abs() < 1e-9);
}

#[test]
fn a_task_that_fits_no_machine_is_named() {
    let giant = Task { input_bytes: 1e12, ..task(0.0, 1.0, 0.0) };
    let jobs = [job(0.0, vec![one_stage(vec![giant])])];
    let error = simulate(&jobs, &EJF, &Parameters::default(), |_, _| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job job never ends: one of its tasks fits no machine; 1 jobs did not end"
    );
}
