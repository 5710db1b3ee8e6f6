//! Independent jobs on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs `job` for each number below `jobs` and returns the results in that order, whatever the number
/// of threads.
///
/// # Errors
/// The error of the first job, in that order, that failed.
pub fn in_parallel<T: Send, E: Send>(
    jobs: usize,
    threads: usize,
    job: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let results = Mutex::new((0..jobs).map(|_| None).collect::<Vec<_>>());
    let work = || {
        while !failed.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= jobs {
                return;
            }
            let result = job(at);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            if let Ok(mut results) = results.lock() {
                results[at] = Some(result);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(jobs) {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        for threads in [0, 1, 3] {
            let squares = in_parallel(20, threads, |at| Ok::<_, ()>(at * at)).unwrap();
            assert_eq!(squares, (0..20).map(|at| at * at).collect::<Vec<_>>());
        }
    }
}
