//! The most that each figure may be, and what missed that.

use std::process::ExitCode;

use crate::scene::Case;

/// A commit and a finish, in microseconds.
pub(crate) const CHANGE_US: f64 = 5.0;

/// An application that waits, beside its profile.
pub(crate) const WAITING_BYTES: usize = 4_096;

/// A case that misses its bound is measured so many times in all.
const MOST_TRIES: usize = 3;

/// The median of a round with so many that wait, in microseconds; none where nothing is promised.
pub(crate) fn round_us(pending: usize) -> Option<f64> {
    match pending {
        100 => Some(5.0),
        1_000 => Some(25.0),
        10_000 => Some(150.0),
        _ => None,
    }
}

/// The same of rounds of one case: promised is what holds when nothing fits and when half do.
pub(crate) fn heartbeat_us(case: Case, pending: usize) -> Option<f64> {
    match case {
        Case::NoneFits | Case::HalfFits => round_us(pending),
        _ => None,
    }
}

/// Times of one case, in microseconds.
pub(crate) struct Times {
    sorted_us: Vec<f64>,
    /// What else its line says.
    more: String,
}

impl Times {
    pub(crate) fn new(mut times_us: Vec<f64>, more: String) -> Self {
        times_us.sort_unstable_by(f64::total_cmp);
        Self {
            sorted_us: times_us,
            more,
        }
    }

    fn at(&self, share: f64) -> f64 {
        self.sorted_us[((self.sorted_us.len() - 1) as f64 * share) as usize]
    }

    fn median_us(&self) -> f64 {
        self.at(0.5)
    }
}

/// Prints a line for each case and remembers which are above their bounds.
#[derive(Default)]
pub(crate) struct Report {
    missed: Vec<String>,
}

impl Report {
    /// Other work on the machine makes times longer and never shorter, so the best of a few tries counts.
    pub(crate) fn times(&mut self, what: &str, most_us: Option<f64>, measure: impl Fn() -> Times) {
        let mut best = measure();
        let misses = |times: &Times| most_us.is_some_and(|most_us| times.median_us() > most_us);
        for _ in 1..MOST_TRIES {
            if !misses(&best) {
                break;
            }
            let again = measure();
            if again.median_us() < best.median_us() {
                best = again;
            }
        }
        let (median_us, p99_us, more) = (best.median_us(), best.at(0.99), &best.more);
        println!("{what} median_us={median_us:.1} p99_us={p99_us:.1}{more}");
        if let Some(most_us) = most_us.filter(|_| misses(&best)) {
            self.missed.push(format!(
                "{what}: median of {median_us:.1} us in the best of {MOST_TRIES} tries, {most_us} us are allowed"
            ));
        }
    }

    /// What one of those that wait takes; measured once, since memory that was freed is used again.
    pub(crate) fn memory(&mut self, pending: usize, bytes_each: usize) {
        println!("memory policy=elastane pending={pending} bytes_each={bytes_each}");
        if bytes_each >= WAITING_BYTES {
            self.missed.push(format!(
                "memory: {bytes_each} bytes each, less than {WAITING_BYTES} are allowed"
            ));
        }
    }

    /// Says what missed its bound, if anything did.
    pub(crate) fn end(self) -> ExitCode {
        for missed in &self.missed {
            eprintln!("{missed}");
        }
        if self.missed.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
