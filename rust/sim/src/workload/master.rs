//! Application masters that wait for room in their queue's limit.

use elastane_core::cluster::Request;

/// The master of applications of one name: while it waits, none of them arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MasterSpec {
    /// Its applications' [`ApplicationSpec::name`](super::ApplicationSpec::name).
    pub name: String,
    /// Its request. It counts by its queue's limit only: its applications' requests book it.
    pub request: Request,
    /// It ran before, and waits for nothing.
    pub runs_already: bool,
    /// How long it runs on after the last of its applications, in milliseconds.
    pub lasts_ms: i64,
}

/// What the masters of a queue may take together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MastersLimit {
    /// The part of what the queue may have now.
    pub part: f64,
    /// The limit is rounded up to a multiple of this; at least 1 of each.
    pub step: Request,
}

impl MastersLimit {
    /// The limit, where the queue may have this; the largest number where the part makes it larger.
    pub(crate) fn of(self, usable: Request) -> Request {
        let steps = |amount: f64, step: f64| (amount * self.part / step).ceil();
        let Request { memory_bytes, vcores } = self.step;
        Request {
            memory_bytes: (steps(usable.memory_bytes as f64, memory_bytes as f64) as u64)
                .saturating_mul(memory_bytes),
            vcores: (steps(f64::from(usable.vcores), f64::from(vcores)) as u32)
                .saturating_mul(vcores),
        }
    }
}
