//! A resource of a machine and its queue of monotasks.

use std::collections::BinaryHeap;

use super::queued::Queued;

/// How monotasks share a resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// Work per second of the whole resource.
    pub rate: f64,
    /// Maximum work per second of one monotask.
    pub most_each: f64,
    /// Maximum concurrent monotasks; others wait.
    pub limit: usize,
    /// Concurrent monotasks without loss of throughput.
    pub undisturbed: usize,
    /// The loss with more; see [`super::parameters::Interference`].
    pub interference: f64,
}

/// A resource whose rate up to `limit` monotasks share equally. The others wait, ordered by priority,
/// then by arrival.
///
/// All active monotasks progress alike, so one number, `attained`, is enough: a monotask ends when
/// `attained` has grown by its work.
#[derive(Debug)]
pub struct Server {
    sharing: Sharing,
    /// The work that a monotask would have received if it had always been active.
    attained: f64,
    updated_s: f64,
    /// The tasks of active monotasks; the priority is the negated value of `attained` at the end.
    active: BinaryHeap<Queued<u32>>,
    waiting: BinaryHeap<Queued<Waiting>>,
    /// Sum over the active monotasks of `attained` at their ends.
    active_ends: f64,
    waiting_work: f64,
    arrivals: u64,
}

#[derive(Debug, PartialEq)]
struct Waiting {
    task: u32,
    work: f64,
}

impl Server {
    /// An idle resource.
    pub fn new(sharing: Sharing) -> Self {
        Self {
            sharing,
            attained: 0.0,
            updated_s: 0.0,
            active: BinaryHeap::new(),
            waiting: BinaryHeap::new(),
            active_ends: 0.0,
            waiting_work: 0.0,
            arrivals: 0,
        }
    }

    /// Adds a monotask; the highest priority leaves the queue first.
    pub fn submit(&mut self, now_s: f64, task: u32, work: f64, priority: f64) {
        self.advance(now_s);
        self.arrivals += 1;
        let waiting = Queued { priority, arrival: self.arrivals, item: Waiting { task, work } };
        if self.active.len() < self.sharing.limit {
            self.start(&waiting);
        } else {
            self.waiting_work += work;
            self.waiting.push(waiting);
        }
    }

    /// The time at which the next monotask ends if none is submitted before; infinite when idle.
    pub fn next_end_s(&self) -> f64 {
        self.active.peek().map_or(f64::INFINITY, |first| {
            let left = (-first.priority - self.attained).max(0.0);
            self.updated_s + left / self.speed()
        })
    }

    /// Ends the next monotask and starts the first waiting one. None when idle.
    pub fn end_next(&mut self, now_s: f64) -> Option<u32> {
        self.advance(now_s);
        let ended = self.active.pop()?;
        self.active_ends += ended.priority;
        if self.active.is_empty() {
            // Drops accumulated rounding errors.
            self.attained = 0.0;
            self.active_ends = 0.0;
        }
        if let Some(next) = self.waiting.pop() {
            self.waiting_work -= next.item.work;
            if self.waiting.is_empty() {
                self.waiting_work = 0.0;
            }
            self.start(&next);
        }
        Some(ended.item)
    }

    /// The outstanding work of active and waiting monotasks.
    pub fn work_left(&self, now_s: f64) -> f64 {
        let attained = self.attained + self.gained(now_s);
        (self.active_ends - attained * self.active.len() as f64 + self.waiting_work).max(0.0)
    }

    /// The number of monotasks that share the rate.
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// The number of queued monotasks.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn start(&mut self, monotask: &Queued<Waiting>) {
        let end = self.attained + monotask.item.work;
        self.active_ends += end;
        self.active.push(Queued {
            priority: -end,
            arrival: monotask.arrival,
            item: monotask.item.task,
        });
    }

    /// Work per second of each active monotask.
    fn speed(&self) -> f64 {
        let Sharing { rate, most_each, undisturbed, interference, .. } = self.sharing;
        let active = self.active.len();
        let disturbing = active.saturating_sub(undisturbed) as f64 / undisturbed.max(1) as f64;
        let rate = rate / (1.0 + interference * disturbing);
        most_each.min(rate / active.max(1) as f64)
    }

    fn gained(&self, now_s: f64) -> f64 {
        if self.active.is_empty() { 0.0 } else { (now_s - self.updated_s).max(0.0) * self.speed() }
    }

    fn advance(&mut self, now_s: f64) {
        self.attained += self.gained(now_s);
        self.updated_s = now_s;
    }
}
