//! Queries: scans, joins of earlier stages, and a small last stage.

use crate::random::{Draw, Random};

use super::{StageShape, job, sizes, stage, submit};
use crate::monotasks::job::Job;

/// Properties common to the queries of a benchmark.
pub(super) struct Benchmark {
    name: &'static str,
    least_scans: usize,
    most_scans: usize,
    task_cpu_s: f64,
}

pub(super) const TPC_H: Benchmark =
    Benchmark { name: "tpc-h", least_scans: 2, most_scans: 5, task_cpu_s: 4.0 };

pub(super) const TPC_DS: Benchmark =
    Benchmark { name: "tpc-ds", least_scans: 3, most_scans: 8, task_cpu_s: 3.0 };

/// Ranges of [`StageShape::network`]; blocks of scans are mostly local.
const SCAN_NETWORK: (f64, f64) = (0.1, 0.3);
const JOIN_NETWORK: (f64, f64) = (0.4, 1.2);
const LAST_SHARE: f64 = 0.03;

pub(super) fn queries(
    random: &mut Random,
    count: usize,
    benchmark: &Benchmark,
    cpu_s: f64,
) -> Vec<Job> {
    let mut jobs: Vec<Job> = sizes(random, count, cpu_s)
        .iter()
        .enumerate()
        .map(|(at, cpu_s)| query(random, at, benchmark, *cpu_s))
        .collect();
    submit(&mut jobs);
    jobs
}

fn query(random: &mut Random, at: usize, benchmark: &Benchmark, cpu_s: f64) -> Job {
    let scans =
        benchmark.least_scans + random.index(benchmark.most_scans - benchmark.least_scans + 1);
    // Scans do most of the work, each join less than the one before.
    let mut shares: Vec<f64> = (0..scans).map(|_| random.between(0.3, 1.0)).collect();
    shares.extend((1..scans).map(|join| random.between(0.3, 1.0) / join as f64));
    let sum = shares.iter().sum::<f64>() / (1.0 - LAST_SHARE);
    let mut shape = |share: f64, network: (f64, f64), writes| {
        let cpu_s = cpu_s * share;
        StageShape {
            cpu_s,
            tasks: (cpu_s / benchmark.task_cpu_s).ceil() as usize,
            network: random.between(network.0, network.1),
            writes,
        }
    };
    let mut shapes: Vec<StageShape> = Vec::with_capacity(2 * scans);
    for (at, share) in shares.iter().enumerate() {
        let network = if at < scans { SCAN_NETWORK } else { JOIN_NETWORK };
        shapes.push(shape(share / sum, network, false));
    }
    shapes.push(shape(LAST_SHARE, JOIN_NETWORK, true));
    let stages = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| stage(random, parents(at, scans), shape))
        .collect();
    job(format!("{}-{at}", benchmark.name), 1.0, stages)
}

/// A join reads the former join and one more scan; the last stage reads the last join.
fn parents(stage: usize, scans: usize) -> Vec<usize> {
    if stage < scans {
        return Vec::new();
    }
    let join = stage - scans;
    if join == 0 {
        vec![0, 1]
    } else if join + 1 < scans {
        vec![stage - 1, join + 1]
    } else {
        vec![stage - 1]
    }
}
