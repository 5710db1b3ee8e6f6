//! Why a container has the limits that it has, and when they change next.

use elastane_core::cluster::ContainerLimits;
use elastane_core::plan::{LimitReason, PlanSettings, Reasoned, ReasonedLimits};
use elastane_protocol::{CanLimit, Limits, Step};
use serde::Serialize;

/// Limits of a plan that differ by at most this part are one step of it.
const SAME: f64 = 0.1;

/// Plain data of one moment.
#[derive(Debug)]
pub(crate) struct LimitsSnapshot {
    pub(crate) container: ContainerLimits,
    pub(crate) settings: PlanSettings,
    /// Whether the core decides about the node.
    pub(crate) decides: bool,
}

/// One limit, planned or in force.
#[derive(Debug, Serialize)]
pub(crate) struct LimitDetails {
    /// The plan's name of it, with its unit.
    limit: &'static str,
    /// As the agent last reported; none without one.
    in_force: Option<f64>,
    /// What the plan has for now.
    planned: Option<f64>,
    /// What the plan has next; none if that is no limit, or if it does not change.
    next: Option<f64>,
    /// None if it does not change within the plan.
    next_in_ms: Option<u32>,
    why: String,
}

/// One field of the limits.
struct Field {
    name: &'static str,
    amount: fn(&Limits) -> Option<f64>,
    reasoned: fn(&ReasonedLimits) -> Option<Reasoned>,
}

const FIELDS: [Field; 6] = [
    Field {
        name: "cpu_weight_cores",
        amount: |it| it.cpu_weight_cores.map(f64::from),
        reasoned: |it| it.cpu_weight_cores,
    },
    Field {
        name: "cpu_cap_cores",
        amount: |it| it.cpu_cap_cores.map(f64::from),
        reasoned: |it| it.cpu_cap_cores,
    },
    Field {
        name: "memory_bytes",
        amount: |it| it.memory_bytes.map(|bytes| bytes as f64),
        reasoned: |it| it.memory_bytes,
    },
    Field {
        name: "disk_cap_bytes_per_s",
        amount: |it| it.disk_cap_bytes_per_s.map(|bytes| bytes as f64),
        reasoned: |it| it.disk_cap_bytes_per_s,
    },
    Field {
        name: "network_weight_bytes_per_s",
        amount: |it| it.network_weight_bytes_per_s.map(|bytes| bytes as f64),
        reasoned: |it| it.network_weight_bytes_per_s,
    },
    Field {
        name: "network_cap_bytes_per_s",
        amount: |it| it.network_cap_bytes_per_s.map(|bytes| bytes as f64),
        reasoned: |it| it.network_cap_bytes_per_s,
    },
];

impl LimitsSnapshot {
    /// `can_limit` and the limits in force are those of the agent's newest report.
    pub(crate) fn details(
        &self,
        can_limit: CanLimit,
        in_force: &Limits,
        now_ms: i64,
    ) -> Vec<LimitDetails> {
        let Self { container, settings, decides } = self;
        let (steps, reasons) = if *decides {
            let steps = container.steps(settings, can_limit, now_ms);
            (steps, container.reasoned(settings, can_limit, now_ms))
        } else {
            (Vec::new(), ReasonedLimits::default())
        };
        let details = |field: &Field| {
            let planned = steps.first().and_then(|step| (field.amount)(&step.limits));
            let in_force = (field.amount)(in_force);
            let reason = (field.reasoned)(&reasons);
            let why = self.why(field, reason, planned, in_force)?;
            let next = next(&steps, field.amount);
            Some(LimitDetails {
                limit: field.name,
                in_force,
                planned,
                next: next.and_then(|(_, amount)| amount),
                next_in_ms: next.map(|(in_ms, _)| in_ms),
                why,
            })
        };
        FIELDS.iter().filter_map(details).collect()
    }

    /// None for a limit that is neither planned nor in force.
    fn why(
        &self,
        field: &Field,
        reason: Option<Reasoned>,
        planned: Option<f64>,
        in_force: Option<f64>,
    ) -> Option<String> {
        let Some(planned) = planned else {
            in_force?;
            let why = if self.decides {
                "the plan has no such limit; the agent lifts it with the next reply"
            } else {
                "the core does not decide about the node now; the agent lifts it when its plan ends"
            };
            return Some(why.to_owned());
        };
        let mut why = self.follows(field.name, reason?.why).to_owned();
        match in_force {
            None => why.push_str("; not in force yet"),
            Some(in_force) if is_same(in_force, planned) => {}
            Some(in_force) if field.name == "memory_bytes" && in_force > planned => {
                why.push_str("; more is in force, until the container gives back what it holds");
            }
            Some(_) => why.push_str("; the former limit is in force until the agent's next report"),
        }
        Some(why)
    }

    fn follows(&self, limit: &str, reason: LimitReason) -> &'static str {
        let is_cap = limit.contains("_cap_");
        match reason {
            LimitReason::Planned if is_cap => {
                "what is planned for now, margin included, times the cap ratio"
            }
            LimitReason::Planned if limit == "memory_bytes" => {
                "the most that is planned for about now, margin included"
            }
            LimitReason::Planned => "what is planned for now, margin included",
            LimitReason::Least => "the least that this limit may be; less is planned",
            LimitReason::Request if is_cap => "the request, which a cap is never below",
            LimitReason::Request => "the request; no less is planned",
            LimitReason::PastItsEnd => "the request, since the predicted end is near or past",
            LimitReason::HoldsMore => {
                "what it holds, margin included: more than was planned for any time up to now"
            }
            LimitReason::VirtualCores => {
                "without a profile in force: its part of the node's CPU by virtual cores"
            }
        }
    }
}

/// When a field changes for the first time by more than the same, and to what.
fn next(steps: &[Step], amount: fn(&Limits) -> Option<f64>) -> Option<(u32, Option<f64>)> {
    let (first, later) = steps.split_first()?;
    let first = amount(&first.limits);
    let changes = |step: &&Step| match (first, amount(&step.limits)) {
        (Some(first), Some(then)) => !is_same(first, then),
        (first, then) => first != then,
    };
    let step = later.iter().find(changes)?;
    Some((step.offset_ms, amount(&step.limits)))
}

fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= SAME * one.max(other)
}
