//! A resource of a machine with its queue of monotasks.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How a resource is shared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// Work a second of the whole resource.
    pub rate: f64,
    /// Work a second that one monotask gets at most.
    pub most_each: f64,
    /// Monotasks at a time; more wait.
    pub limit: usize,
    /// Monotasks at a time that do not disturb each other.
    pub undisturbed: usize,
    /// What each further one costs; see [`super::parameters::Interference`].
    pub interference: f64,
}

/// A resource: up to a limit of monotasks share its rate equally, the others wait in order of
/// priority, then of arrival.
///
/// As all active ones progress alike, one number says how far: the work that each would have got
/// since the start. A monotask ends when that number has grown by its work.
#[derive(Debug)]
pub struct Server {
    sharing: Sharing,
    /// The work that a monotask would have got that was active all the time.
    attained: f64,
    updated_s: f64,
    active: BinaryHeap<Active>,
    waiting: BinaryHeap<Waiting>,
    /// Sum of the ends of the active ones, to know what is left without a walk.
    active_ends: f64,
    waiting_work: f64,
    arrivals: u64,
}

#[derive(Debug, PartialEq)]
struct Active {
    /// The value of `attained` at which it is done.
    end: f64,
    arrival: u64,
    task: u32,
}

#[derive(Debug, PartialEq)]
struct Waiting {
    priority: f64,
    arrival: u64,
    task: u32,
    work: f64,
}

impl Eq for Active {}
impl Ord for Active {
    /// The first to end is the greatest.
    fn cmp(&self, other: &Self) -> Ordering {
        let ends = other.end.total_cmp(&self.end);
        ends.then(other.arrival.cmp(&self.arrival))
    }
}
impl PartialOrd for Active {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Waiting {}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let priorities = self.priority.total_cmp(&other.priority);
        priorities.then(other.arrival.cmp(&self.arrival))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Server {
    /// Idle.
    #[must_use]
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

    /// A monotask comes; the highest priority leaves the queue first.
    pub fn submit(&mut self, now_s: f64, task: u32, work: f64, priority: f64) {
        self.advance(now_s);
        self.arrivals += 1;
        let waiting = Waiting {
            priority,
            arrival: self.arrivals,
            task,
            work,
        };
        if self.active.len() < self.sharing.limit {
            self.start(&waiting);
        } else {
            self.waiting_work += work;
            self.waiting.push(waiting);
        }
    }

    /// When the next monotask ends if none comes before; infinity when idle.
    #[must_use]
    pub fn next_end_s(&self) -> f64 {
        self.active.peek().map_or(f64::INFINITY, |first| {
            let left = (first.end - self.attained).max(0.0);
            self.updated_s + left / self.speed()
        })
    }

    /// The next monotask ends, now; the first that waits takes its place. None when idle.
    pub fn end_next(&mut self, now_s: f64) -> Option<u32> {
        self.advance(now_s);
        let ended = self.active.pop()?;
        self.active_ends -= ended.end;
        if self.active.is_empty() {
            // Nothing refers to it any more: no error of rounding outlives a busy period.
            self.attained = 0.0;
            self.active_ends = 0.0;
        }
        if let Some(next) = self.waiting.pop() {
            self.waiting_work -= next.work;
            if self.waiting.is_empty() {
                self.waiting_work = 0.0;
            }
            self.start(&next);
        }
        Some(ended.task)
    }

    /// The work of all that is here and not done yet.
    #[must_use]
    pub fn work_left(&self, now_s: f64) -> f64 {
        let attained = self.attained + self.gained(now_s);
        (self.active_ends - attained * self.active.len() as f64 + self.waiting_work).max(0.0)
    }

    /// How many share it now.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn start(&mut self, monotask: &Waiting) {
        let end = self.attained + monotask.work;
        self.active_ends += end;
        self.active.push(Active {
            end,
            arrival: monotask.arrival,
            task: monotask.task,
        });
    }

    /// Work a second that each active monotask gets.
    fn speed(&self) -> f64 {
        let Sharing {
            rate,
            most_each,
            undisturbed,
            interference,
            ..
        } = self.sharing;
        let active = self.active.len();
        let disturbing = active.saturating_sub(undisturbed) as f64 / undisturbed.max(1) as f64;
        let rate = rate / (1.0 + interference * disturbing);
        most_each.min(rate / active.max(1) as f64)
    }

    fn gained(&self, now_s: f64) -> f64 {
        if self.active.is_empty() {
            0.0
        } else {
            (now_s - self.updated_s).max(0.0) * self.speed()
        }
    }

    fn advance(&mut self, now_s: f64) {
        self.attained += self.gained(now_s);
        self.updated_s = now_s;
    }
}
