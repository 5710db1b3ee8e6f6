//! The limit plan: the limits of a container over the coming time.

mod reasoned;

use elastane_protocol::{CanLimit, Limits, Step};

pub use reasoned::{LimitReason, Reasoned, ReasonedLimits};

/// The names of [`Limits`]' fields, in the order of [`amounts`].
pub const LIMIT_NAMES: [&str; 6] = [
    "cpu_weight_cores",
    "cpu_cap_cores",
    "memory_bytes",
    "disk_cap_bytes_per_s",
    "network_weight_bytes_per_s",
    "network_cap_bytes_per_s",
];

use crate::resources::Resources;
use crate::running::Running;

/// Steps that differ by at most this fraction are merged: each change of a limit is a write to the
/// kernel, and predictions are not that precise.
const SAME_STEP: f64 = 0.1;

/// Minimum CPU weight: below it a container could not answer a heartbeat on a busy node.
const LEAST_WEIGHT_CORES: f64 = 0.05;

/// Minimum network weight, for the same reason on a busy link.
const LEAST_NETWORK_WEIGHT_BYTES_PER_S: f64 = 256.0 * 1024.0;

/// Minimum cap of disk and network: a container predicted to have no traffic still loads classes
/// and writes logs.
const LEAST_CAP_BYTES_PER_S: f64 = 4.0 * 1024.0 * 1024.0;

/// Runs are a little ahead of their prediction or behind it. The memory limit follows the largest demand within
/// this number of slots before and after, so that the limit rises before the demand does.
const MEMORY_WINDOW_SLOTS: i64 = 2;

/// Memory limits are multiples of this, so that a small change of a measurement changes no limit.
const MEMORY_GRAIN_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// The administrator's settings of limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanSettings {
    /// Length of a plan, in milliseconds.
    pub valid_for_ms: u32,
    /// Whether CPU is shared by weights.
    pub weighs_cpu: bool,
    /// CPU cap as a multiple of the planned use, at least the request; none sets no cap.
    pub cpu_cap_ratio: Option<f64>,
    /// Whether memory is limited.
    pub limits_memory: bool,
    /// Disk cap as a multiple of the planned traffic; none sets no cap.
    pub disk_cap_ratio: Option<f64>,
    /// Network cap as a multiple of the planned traffic; none sets weights only.
    pub network_cap_ratio: Option<f64>,
}

impl Default for PlanSettings {
    /// Two minutes, work-conserving, without memory limits.
    fn default() -> Self {
        Self {
            valid_for_ms: 120_000,
            weighs_cpu: true,
            cpu_cap_ratio: None,
            limits_memory: false,
            disk_cap_ratio: None,
            network_cap_ratio: None,
        }
    }
}

impl PlanSettings {
    /// Whether a container may have a limit other than a weight of the network.
    pub fn limits_any(&self) -> bool {
        let caps = [self.cpu_cap_ratio, self.disk_cap_ratio, self.network_cap_ratio];
        self.weighs_cpu || self.limits_memory || caps.iter().any(Option::is_some)
    }
}

/// The inputs of one container's plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitPlan<'a> {
    /// The administrator's settings.
    pub settings: &'a PlanSettings,
    /// The abilities of the node's agent; nothing else is planned.
    pub can_limit: CanLimit,
    /// Maximum number of steps, at least 1.
    pub most_steps: usize,
    /// Safety margin, as a fraction of the predicted use.
    pub margin: f64,
    /// The container's request, as resources of its node.
    pub request: Resources,
}

impl LimitPlan<'_> {
    /// The limits of `executor` from `now_ms` on; empty if nothing is limited.
    ///
    /// With planned(t) = demand(t) · (1 + margin):
    /// - the weights of CPU and network are planned(t);
    /// - the caps are planned(t) · cap ratio, that of CPU never below the request;
    /// - memory is the largest planned(t) of a window around t, at most the request (past the
    ///   predicted end the request itself). Where more was measured than was planned at any time up
    ///   to then, it is never below measured · (1 + margin).
    pub fn steps(&self, executor: &Running, now_ms: i64) -> Vec<Step> {
        let slot_ms = executor.demand.slot_ms();
        let elapsed_ms = now_ms.saturating_sub(executor.start_ms).max(0);
        let into_slot_ms = u32::try_from(elapsed_ms % i64::from(slot_ms)).unwrap_or(0);
        let mut steps = Steps::new(self.most_steps);
        let mut most_held_bytes = self.most_held_bytes(executor, elapsed_ms);
        let mut offset_ms = 0;
        while offset_ms < self.settings.valid_for_ms {
            let at_ms = elapsed_ms.saturating_add(i64::from(offset_ms));
            steps.add(offset_ms, self.limits(executor, at_ms, &mut most_held_bytes).limits());
            let passed_ms = if offset_ms == 0 { into_slot_ms } else { 0 };
            offset_ms = offset_ms.saturating_add(slot_ms - passed_ms);
        }
        steps.into_steps()
    }

    /// The limits of `executor` at `now_ms`, with their reasons.
    pub fn reasoned(&self, executor: &Running, now_ms: i64) -> ReasonedLimits {
        let elapsed_ms = now_ms.saturating_sub(executor.start_ms).max(0);
        self.limits(executor, elapsed_ms, &mut self.most_held_bytes(executor, elapsed_ms))
    }

    fn limits(
        &self,
        executor: &Running,
        elapsed_ms: i64,
        most_held_bytes: &mut f64,
    ) -> ReasonedLimits {
        let Self { settings, can_limit, .. } = self;
        let planned = executor.demand.at(elapsed_ms) * (1.0 + self.margin);
        let weight =
            Reasoned::planned(planned.cpu_cores).or_if_more(LEAST_WEIGHT_CORES, LimitReason::Least);
        let cap_cores = |ratio: f64| {
            let cap = Reasoned { amount: weight.amount * ratio, why: weight.why };
            cap.or_if_more(self.request.cpu_cores, LimitReason::Request)
        };
        let cap = |planned: f64| {
            move |ratio: f64| {
                Reasoned::planned(planned * ratio)
                    .or_if_more(LEAST_CAP_BYTES_PER_S, LimitReason::Least)
            }
        };
        let network_weight = Reasoned::planned(planned.network_bytes_per_s)
            .or_if_more(LEAST_NETWORK_WEIGHT_BYTES_PER_S, LimitReason::Least);
        let cpu_cap_ratio = settings.cpu_cap_ratio.filter(|_| can_limit.cpu);
        let disk_cap_ratio = settings.disk_cap_ratio.filter(|_| can_limit.disk);
        let network_cap_ratio = settings
            .network_cap_ratio
            .filter(|_| can_limit.network_sent || can_limit.network_received);
        ReasonedLimits {
            cpu_weight_cores: (settings.weighs_cpu && can_limit.cpu).then_some(weight),
            cpu_cap_cores: cpu_cap_ratio.map(cap_cores),
            memory_bytes: (settings.limits_memory && can_limit.memory)
                .then(|| self.memory_bytes(executor, elapsed_ms, most_held_bytes)),
            disk_cap_bytes_per_s: disk_cap_ratio.map(cap(planned.disk_bytes_per_s)),
            network_weight_bytes_per_s: can_limit.network_sent.then_some(network_weight),
            network_cap_bytes_per_s: network_cap_ratio.map(cap(planned.network_bytes_per_s)),
        }
    }

    /// The most memory predicted for any time up to the end of the window around now.
    fn most_held_bytes(&self, executor: &Running, elapsed_ms: i64) -> f64 {
        if !self.settings.limits_memory {
            return 0.0;
        }
        let demand = &executor.demand;
        let until_ms = elapsed_ms.saturating_add(window_ms(executor));
        Resources::peak_of(&demand.slots()[..=demand.slot_at(until_ms)]).memory_bytes
    }

    /// `most_held_bytes` is the most memory predicted for any earlier time.
    fn memory_bytes(
        &self,
        executor: &Running,
        elapsed_ms: i64,
        most_held_bytes: &mut f64,
    ) -> Reasoned {
        let demand = &executor.demand;
        let window_ms = window_ms(executor);
        let is_past_its_end = demand
            .duration_ms()
            .is_none_or(|duration_ms| elapsed_ms.saturating_add(window_ms) >= duration_ms);
        let in_grains = |bytes: f64| {
            (bytes * (1.0 + self.margin) / MEMORY_GRAIN_BYTES).ceil() * MEMORY_GRAIN_BYTES
        };
        let request = Reasoned { amount: self.request.memory_bytes, why: LimitReason::Request };
        let predicted = if is_past_its_end {
            Reasoned { why: LimitReason::PastItsEnd, ..request }
        } else {
            let first = demand.slot_at(elapsed_ms - window_ms);
            let last = demand.slot_at(elapsed_ms + window_ms);
            let largest = Resources::peak_of(&demand.slots()[first..=last]).memory_bytes;
            *most_held_bytes = most_held_bytes.max(largest);
            let planned = Reasoned::planned(in_grains(largest));
            if planned.amount > request.amount { request } else { planned }
        };
        // A container that holds no more than an earlier prediction has not released it yet: the
        // agent asks its JVM to, and lowers the limit only as resident memory falls. A container
        // that holds more than any prediction needs more than is known.
        let measured_bytes = executor.measured_memory_bytes;
        let is_as_predicted = measured_bytes <= *most_held_bytes * (1.0 + self.margin);
        if is_as_predicted {
            predicted
        } else {
            predicted.or_if_more(in_grains(measured_bytes), LimitReason::HoldsMore)
        }
    }
}

fn window_ms(executor: &Running) -> i64 {
    MEMORY_WINDOW_SLOTS * i64::from(executor.demand.slot_ms())
}

/// Collects steps. Similar steps are merged into one with the largest bounds of all.
struct Steps {
    steps: Vec<Step>,
    /// The limits at the start of the last step. Later limits are compared with these, so that a
    /// slow rise is several steps.
    begun: Limits,
    most: usize,
}

impl Steps {
    fn new(most: usize) -> Self {
        Self { steps: Vec::new(), begun: Limits::default(), most: most.max(1) }
    }

    fn add(&mut self, offset_ms: u32, limits: Limits) {
        let is_full = self.steps.len() == self.most;
        match self.steps.last_mut() {
            Some(last) if is_full || alike(&self.begun, &limits) => {
                last.limits = with_largest_bounds(last.limits, limits);
            }
            _ => {
                self.begun = limits;
                self.steps.push(Step { offset_ms, limits });
            }
        }
    }

    fn into_steps(self) -> Vec<Step> {
        let limits_nothing = |step: &Step| step.limits == Limits::default();
        if self.steps.iter().all(limits_nothing) { Vec::new() } else { self.steps }
    }
}

/// The weights of `step`, and the larger of both bounds; no bound where either has none.
pub fn with_largest_bounds(step: Limits, next: Limits) -> Limits {
    let cores = |a: Option<f32>, b: Option<f32>| a.zip(b).map(|(a, b)| a.max(b));
    let bytes = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a.max(b));
    Limits {
        cpu_cap_cores: cores(step.cpu_cap_cores, next.cpu_cap_cores),
        memory_bytes: bytes(step.memory_bytes, next.memory_bytes),
        disk_cap_bytes_per_s: bytes(step.disk_cap_bytes_per_s, next.disk_cap_bytes_per_s),
        network_cap_bytes_per_s: bytes(step.network_cap_bytes_per_s, next.network_cap_bytes_per_s),
        ..step
    }
}

/// Whether an amount stays in the step that began with another one.
pub fn is_same_step(begun: f64, next: f64) -> bool {
    (next - begun).abs() <= SAME_STEP * begun
}

fn alike(begun: &Limits, next: &Limits) -> bool {
    let near = |(begun, next): (Option<f64>, Option<f64>)| match (begun, next) {
        (Some(begun), Some(next)) => is_same_step(begun, next),
        _ => begun == next,
    };
    amounts(begun).into_iter().zip(amounts(next)).all(near)
}

/// All limits, in the order of [`LIMIT_NAMES`].
pub fn amounts(limits: &Limits) -> [Option<f64>; 6] {
    let cores = |cores: Option<f32>| cores.map(f64::from);
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64);
    [
        cores(limits.cpu_weight_cores),
        cores(limits.cpu_cap_cores),
        bytes(limits.memory_bytes),
        bytes(limits.disk_cap_bytes_per_s),
        bytes(limits.network_weight_bytes_per_s),
        bytes(limits.network_cap_bytes_per_s),
    ]
}

#[cfg(test)]
mod tests;
