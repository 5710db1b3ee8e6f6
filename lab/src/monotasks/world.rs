//! The machines of a run, and the clock.

use super::job::{Job, Kind, Work};
use super::meter::{Held, Meter};
use super::parameters::Parameters;
use super::progress::Progress;
use super::server::{Server, Sharing};

/// An event of a run, for observers. Stages and tasks are numbered over all jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// All parents of a stage have ended.
    StageReady {
        /// The stage whose tasks are now known.
        stage: usize,
    },
    /// A task was placed on a machine.
    Placed {
        /// The placed task.
        task: usize,
        /// The stage of the task.
        stage: usize,
        /// The machine that runs the task.
        machine: usize,
        /// D of the machine before the placement; 1 if the policy ignores D.
        idle: Work,
        /// The allocated memory of the machine after the placement.
        allocated_memory_bytes: f64,
    },
    /// One step of a task ended.
    MonotaskEnded {
        /// The task, which may have further steps.
        task: usize,
        /// The resource that the step used.
        kind: Kind,
        /// The machine that runs the task.
        machine: usize,
    },
    /// The last step of a task ended.
    TaskEnded {
        /// The ended task.
        task: usize,
        /// The stage of the task.
        stage: usize,
    },
}

/// An observer; the first argument is the time in seconds.
pub type Watch<'a> = dyn FnMut(f64, &Event) + 'a;

/// Whether a machine bounds its concurrent monotasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queues {
    /// By the limits of its queues; the others wait.
    Bounded,
    /// No: it runs all that containers start.
    Unbounded,
}

pub(super) struct World<'a> {
    pub(super) now_s: f64,
    pub(super) progress: Progress<'a>,
    pub(super) parameters: &'a Parameters,
    /// A server for each kind, machine by machine.
    servers: Vec<Server>,
    queues: Queues,
    next_ends_s: Vec<f64>,
    meter: Meter,
    watch: &'a mut Watch<'a>,
}

impl<'a> World<'a> {
    pub(super) fn new(
        jobs: &'a [Job],
        parameters: &'a Parameters,
        queues: Queues,
        cpu: impl Fn(&Job) -> f64,
        watch: &'a mut Watch<'a>,
    ) -> Self {
        let machines = parameters.machines.count;
        let servers: Vec<Server> = (0..machines)
            .flat_map(|_| Kind::ALL.map(|kind| Server::new(sharing(parameters, kind, queues))))
            .collect();
        Self {
            now_s: 0.0,
            progress: Progress::new(jobs, parameters.stage_latency_s, cpu),
            parameters,
            next_ends_s: vec![f64::INFINITY; servers.len()],
            servers,
            queues,
            meter: Meter::default(),
            watch,
        }
    }

    pub(super) fn server(&self, machine: usize, kind: Kind) -> &Server {
        &self.servers[server_at(machine, kind)]
    }

    pub(super) fn hold(&mut self, held: Held, amount: f64) {
        self.meter.add(held, amount, self.now_s);
    }

    pub(super) fn held_over_time(&mut self, held: Held) -> f64 {
        self.meter.integral(held, self.now_s)
    }

    /// A placed task takes its memory.
    pub(super) fn placed(
        &mut self,
        [stage, task]: [u32; 2],
        machine: usize,
        idle: Work,
        allocated_memory_bytes: f64,
    ) {
        self.hold(Held::UsedMemory, self.progress.task(task).memory_bytes);
        self.tell(&Event::Placed {
            task: task as usize,
            stage: stage as usize,
            machine,
            idle,
            allocated_memory_bytes,
        });
    }

    /// Ends a task; returns whether its job ended.
    pub(super) fn end_task(&mut self, task: u32) -> bool {
        self.hold(Held::UsedMemory, -self.progress.task(task).memory_bytes);
        self.tell(&Event::TaskEnded {
            task: task as usize,
            stage: self.progress.stage_of[task as usize] as usize,
        });
        self.progress.task_ended(task, self.now_s)
    }

    pub(super) fn tell(&mut self, event: &Event) {
        (self.watch)(self.now_s, event);
    }

    pub(super) fn submit(&mut self, machine: usize, kind: Kind, task: u32, priority: f64) {
        let work = self.progress.task(task).work[kind as usize];
        let at = server_at(machine, kind);
        self.changing(at, |server, now_s| server.submit(now_s, task, work, priority));
    }

    /// The time at which the next monotask ends, and the index of its server.
    pub(super) fn next_end(&self) -> (f64, usize) {
        let mut first = (f64::INFINITY, 0);
        for (at, &end_s) in self.next_ends_s.iter().enumerate() {
            if end_s < first.0 {
                first = (end_s, at);
            }
        }
        first
    }

    /// Ends the next monotask of a server of [`World::next_end`].
    pub(super) fn end_next(&mut self, at: usize) -> Option<(u32, Kind, usize)> {
        let task = self.changing(at, |server, now_s| server.end_next(now_s))?;
        let (machine, kind) = (at / Kind::ALL.len(), Kind::ALL[at % Kind::ALL.len()]);
        self.progress.monotask_ended(task, kind);
        self.tell(&Event::MonotaskEnded { task: task as usize, kind, machine });
        Some((task, kind, machine))
    }

    fn changing<T>(&mut self, at: usize, change: impl FnOnce(&mut Server, f64) -> T) -> T {
        let cores = self.parameters.machines.cores;
        let server = &mut self.servers[at];
        let before = server.active().min(cores);
        let result = change(server, self.now_s);
        self.next_ends_s[at] = server.next_end_s();
        let after = server.active().min(cores);
        if before != after && Kind::ALL[at % Kind::ALL.len()] == Kind::Cpu {
            let more = after as f64 - before as f64;
            self.hold(Held::UsedCores, more);
            if self.queues == Queues::Bounded {
                // A monotask holds its core only while it computes.
                self.hold(Held::AllocatedCores, more);
            }
        }
        result
    }

    pub(super) fn is_idle(&self) -> bool {
        self.next_end().0.is_infinite()
    }

    /// The next kind of work of a task that has any.
    pub(super) fn next_kind(&self, task: u32, after: Option<Kind>) -> Option<Kind> {
        let work = self.progress.task(task).work;
        let from = after.map_or(0, |kind| kind as usize + 1);
        Kind::ALL[from..].iter().copied().find(|kind| work[*kind as usize] > 0.0)
    }
}

fn server_at(machine: usize, kind: Kind) -> usize {
    machine * Kind::ALL.len() + kind as usize
}

fn sharing(parameters: &Parameters, kind: Kind, queues: Queues) -> Sharing {
    let Parameters { machines, interference, workers, .. } = parameters;
    let (rate, most_each, undisturbed, interference) = match kind {
        Kind::Network => {
            let rate = machines.network_bytes_per_s;
            (rate, rate, workers.network_monotasks, interference.network)
        }
        Kind::Cpu => (machines.cores as f64, 1.0, machines.cores, interference.cpu),
        Kind::Disk => {
            let rate = machines.disk_bytes_per_s;
            (rate, rate, workers.disk_monotasks, interference.disk)
        }
    };
    Sharing {
        rate,
        most_each,
        limit: match queues {
            Queues::Bounded => undisturbed,
            Queues::Unbounded => usize::MAX,
        },
        undisturbed,
        interference,
    }
}
