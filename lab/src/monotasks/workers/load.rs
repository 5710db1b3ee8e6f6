//! Ursa's D, Inc and F of a worker.

use super::Worker;
use crate::monotasks::job::{Kind, Work, plus};
use crate::monotasks::parameters::Parameters;
use crate::monotasks::world::World;

/// The outstanding work of a worker during a round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Assigned work over the rate.
    assigned_s: Work,
    idle_cores: usize,
    memory_free_bytes: f64,
}

/// The load that a task would add.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// Work over the rate.
    pub(super) seconds: Work,
    pub(super) memory_bytes: f64,
}

/// D of a worker and F of a task there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gain {
    pub(super) idle: Work,
    pub(super) f: f64,
}

/// The CPU work that all workers still accept in a round.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct CpuRoom {
    below_ept_s: f64,
    /// Tasks that can start whatever their length: one per idle core, and one per worker that exceeds
    /// EPT.
    tasks: usize,
}

impl CpuRoom {
    pub(super) fn of(loads: &[Load], expected_s: f64) -> Self {
        loads.iter().fold(Self::default(), |room, load| {
            let below_ept_s = (expected_s - load.assigned_s[Kind::Cpu as usize]).max(0.0);
            if load.idle_cores == 0 && below_ept_s <= 0.0 {
                return room;
            }
            Self {
                below_ept_s: room.below_ept_s + below_ept_s,
                tasks: room.tasks + load.idle_cores + 1,
            }
        })
    }

    pub(super) fn is_none(self) -> bool {
        self.tasks == 0
    }

    /// An upper bound of the accepted work of tasks of at most `most_cpu_s`.
    pub(super) fn seconds(self, most_cpu_s: f64) -> f64 {
        self.below_ept_s + self.tasks as f64 * most_cpu_s
    }
}

impl Load {
    pub(super) fn of(world: &World<'_>, worker: &Worker, machine: usize) -> Self {
        let mut assigned_s = worker.upcoming;
        for kind in Kind::ALL {
            assigned_s[kind as usize] += world.server(machine, kind).work_left(world.now_s);
        }
        Self {
            assigned_s: seconds(world.parameters, assigned_s),
            idle_cores: world.parameters.machines.cores.saturating_sub(worker.cpu_monotasks),
            memory_free_bytes: worker.memory_free_bytes,
        }
    }

    pub(super) fn add(&mut self, need: &Need) {
        self.assigned_s = plus(self.assigned_s, need.seconds);
        if need.seconds[Kind::Cpu as usize] > 0.0 {
            self.idle_cores = self.idle_cores.saturating_sub(1);
        }
        self.memory_free_bytes -= need.memory_bytes;
    }

    /// `F = Σ D_r · Inc_r` with `D_r = max(0, (EPT − APT_r) ÷ EPT)`, where APT is 0 for CPU while a
    /// core is idle, and `Inc_r = min(D_r, seconds_r ÷ EPT)`. None if D_r is 0 for a resource that the
    /// task needs, or if the memory does not suffice.
    pub(super) fn gain(&self, need: &Need, expected_s: f64, by_network: bool) -> Option<Gain> {
        if need.memory_bytes > self.memory_free_bytes {
            return None;
        }
        let mut gain = Gain { idle: [1.0; 3], f: 0.0 };
        for kind in Kind::ALL {
            if kind == Kind::Network && !by_network {
                continue;
            }
            let at = kind as usize;
            let assigned_s =
                if kind == Kind::Cpu && self.idle_cores > 0 { 0.0 } else { self.assigned_s[at] };
            let idle = ((expected_s - assigned_s) / expected_s).max(0.0);
            if idle <= 0.0 && need.seconds[at] > 0.0 {
                return None;
            }
            gain.idle[at] = idle;
            gain.f += idle * (need.seconds[at] / expected_s).min(idle);
        }
        Some(gain)
    }
}

/// The time of work at the rates of a worker. A worker measures the rates of the parameters as long as
/// its queues prevent contention.
pub(super) fn seconds(parameters: &Parameters, work: Work) -> Work {
    let rates = parameters.machines.rates();
    std::array::from_fn(|at| work[at] / rates[at])
}
