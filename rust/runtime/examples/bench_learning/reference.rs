//! A fixed computation of the same kind as training a support vector regression: a busy machine makes both
//! dearer, so that the ratio of their CPU time stays where it is.

use std::fs;
use std::hint::black_box;

use crate::figure::Outcome;

const RUNS: usize = 30;
const SETTINGS: usize = 8;
const GAMMAS: usize = 800;
const SWEEPS: usize = 150;

/// The CPU time of the computation now, in milliseconds.
pub fn cpu_ms() -> Outcome<f64> {
    let before = thread_cpu_ms()?;
    for gamma in 1..=GAMMAS {
        black_box(descend(black_box(gamma as f64 / 100.0)));
    }
    Ok(thread_cpu_ms()? - before)
}

/// The time that this thread ran, in milliseconds.
pub fn thread_cpu_ms() -> Outcome<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let running = text.split(' ').next().unwrap_or_default();
    Ok(running.parse::<f64>()? / 1e6)
}

/// Sweeps of gradient descent over an RBF kernel of runs that differ in each setting.
fn descend(gamma: f64) -> f64 {
    let setting = |run: usize, at: usize| ((run * (at + 3)) % 17) as f64 / 17.0;
    let kernel: Vec<Vec<f64>> = (0..RUNS)
        .map(|one| {
            let distance = |other: usize| -> f64 {
                let apart = |at| setting(one, at) - setting(other, at);
                (0..SETTINGS).map(|at| apart(at) * apart(at)).sum()
            };
            (0..RUNS).map(|other| (-gamma * distance(other)).exp()).collect()
        })
        .collect();
    let mut weights = vec![0.0; RUNS];
    for _ in 0..SWEEPS {
        for run in 0..RUNS {
            let predicted: f64 = kernel[run].iter().zip(&weights).map(|(k, w)| k * w).sum();
            weights[run] += 0.1 * (run as f64 / RUNS as f64 - predicted);
        }
    }
    weights.iter().sum()
}
