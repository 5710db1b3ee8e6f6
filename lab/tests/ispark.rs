//! iSpark's packing of executors against Spark's static and dynamic allocation.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use elastane_lab::ispark::{
    Allocation, IsparkFigure, IsparkJob, IsparkOutcome, IsparkParameters, Iteration, compare, jobs,
    lower_bound_s, simulate,
};

const PARTITIONS: usize = 32;

/// An iteration of 10 s on 8 executors, which uses these fractions of their cores and memory.
fn iteration(cpu: f64, memory: f64) -> Iteration {
    let each = PARTITIONS as f64 / 8.0;
    Iteration {
        compute_s: 10.0 * cpu / each,
        wait_s: 10.0 * (1.0 - cpu) / each,
        serial_s: 0.0,
        memory_bytes: memory * IsparkParameters::default().executor_memory_bytes / each,
        expected_s: 10.0,
    }
}

fn job(submitted_s: f64, iterations: Vec<Iteration>) -> IsparkJob {
    IsparkJob { name: "job".to_owned(), submitted_s, iterations, weights: vec![1.0; PARTITIONS] }
}

/// High utilization in the first iteration, low in the others.
fn falling(submitted_s: f64) -> IsparkJob {
    let first = iteration(0.9, 0.9);
    job(submitted_s, [vec![first], vec![iteration(0.1, 0.2); 19]].concat())
}

fn with_room(room: usize) -> IsparkParameters {
    IsparkParameters { room, ..IsparkParameters::default() }
}

fn run(parameters: &IsparkParameters, allocation: Allocation, jobs: &[IsparkJob]) -> IsparkOutcome {
    simulate(parameters, allocation, jobs).unwrap()
}

#[test]
fn packed_executors_let_the_next_application_start() {
    let jobs = [falling(0.0), falling(1.0), falling(2.0)];
    let fixed = run(&with_room(16), Allocation::Static, &jobs);
    let packed = run(&with_room(16), Allocation::Packed, &jobs);
    // With static allocation, the third application waits until another one ends.
    assert!(fixed.completions_s[2] > 400.0, "{fixed:?}");
    assert!(packed.completions_s[2] < 300.0, "{packed:?}");
    assert!(packed.counts.handed_over >= 8, "{packed:?}");
    assert!(packed.executor_utilization > 1.3 * fixed.executor_utilization);
}

#[test]
fn nothing_is_packed_above_gamma() {
    let jobs = [falling(0.0)];
    let parameters = IsparkParameters { trigger: 0.15, ..IsparkParameters::default() };
    let packed = run(&parameters, Allocation::Packed, &jobs);
    assert_eq!(packed.counts.handed_over, 0);
    assert_eq!(packed, run(&parameters, Allocation::Static, &jobs));
}

#[test]
fn an_application_that_packing_slows_down_gets_executors_back() {
    // Two streams of 40 % CPU fit one executor, and then take 16 % longer.
    let iterations = vec![iteration(0.4, 0.2); 10];
    let jobs = [job(0.0, [vec![iteration(0.9, 0.9)], iterations].concat())];
    let packed = run(&IsparkParameters::default(), Allocation::Packed, &jobs);
    assert!(packed.counts.reprovisioned > 0, "{packed:?}");
    assert!(packed.counts.given_back > 0, "{packed:?}");
    let patient = IsparkParameters { slowdown: 2.0, ..IsparkParameters::default() };
    let packed = run(&patient, Allocation::Packed, &jobs);
    assert_eq!(packed.counts.reprovisioned, 0);
}

#[test]
fn dynamic_allocation_takes_all_that_there_is() {
    let jobs = [falling(0.0), falling(1.0)];
    let alone = run(&IsparkParameters::default(), Allocation::Dynamic, &jobs[..1]);
    let fixed = run(&IsparkParameters::default(), Allocation::Static, &jobs[..1]);
    // A quarter of the time, apart from the start of the executors.
    let start_s = IsparkParameters::default().start_s;
    let quarter_s = (fixed.makespan_s - start_s) / 4.0;
    assert!((alone.makespan_s - start_s - quarter_s).abs() < 1e-3);
    let both = run(&IsparkParameters::default(), Allocation::Dynamic, &jobs);
    assert!(both.completions_s[1] > 1.9 * alone.makespan_s, "the second waits");
}

#[test]
fn every_allocation_does_the_same_work_in_no_less_than_the_bound() {
    let parameters = IsparkParameters::default();
    for seed in 1..=5 {
        let jobs = jobs(&parameters, seed);
        let bound_s = lower_bound_s(&parameters, &jobs);
        let work_s: f64 = jobs
            .iter()
            .map(|job| {
                let partitions: f64 = job.weights.iter().sum();
                let compute_s = job.iterations.iter().map(|one| one.compute_s);
                compute_s.sum::<f64>() * partitions
            })
            .sum();
        for allocation in Allocation::ALL {
            let outcome = run(&parameters, allocation, &jobs);
            let whole_s = outcome.makespan_s * parameters.room as f64;
            let done_s = outcome.utilization.cpu_cores * whole_s;
            assert!((done_s / work_s - 1.0).abs() < 1e-4, "{allocation:?}: {done_s} {work_s}");
            assert!(outcome.makespan_s >= bound_s, "{allocation:?}");
            assert!(outcome.executor_utilization <= 1.0, "{allocation:?}");
            assert_eq!(outcome, run(&parameters, allocation, &jobs));
        }
    }
}

#[test]
fn an_application_larger_than_the_cluster_is_named() {
    let error = simulate(&with_room(7), Allocation::Static, &[falling(0.0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "application job waits for 8 executors; the cluster has room for 7"
    );
}

#[test]
fn figures_are_beside_the_allocation_that_they_name() {
    let compared = compare(&IsparkParameters::default(), &[1, 2]).unwrap();
    let of = Allocation::Packed;
    let cut = compared.measured(of, IsparkFigure::CompletionCut(of));
    assert_eq!(cut.values, [0.0, 0.0]);
    let gain = compared.measured(of, IsparkFigure::ExecutorUtilizationGain(Allocation::Static));
    assert!(gain.values.iter().all(|gain| *gain > 0.0), "{gain:?}");
    assert_eq!(compared.compared().len(), 9);
}
