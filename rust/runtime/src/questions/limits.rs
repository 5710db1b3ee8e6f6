//! Why a container has the limits that it has, and when they change next.

use elastane_core::cluster::ContainerLimits;
use elastane_core::plan::{LimitReason, PlanSettings, Reasoned, ReasonedLimits, is_same_step};
use elastane_protocol::{CanLimit, Limits, Step};
use serde::Serialize;

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
    /// By the agent's newest report; none without one.
    in_force: Option<f64>,
    /// What is planned for now.
    planned: Option<f64>,
    /// What the plan has next, and when; none if it does not change within the plan.
    next: Option<f64>,
    next_in_ms: Option<u32>,
    why: String,
}

const MEMORY: &str = "memory_bytes";

/// One field of the limits.
struct Field {
    name: &'static str,
    amount: fn(&Limits) -> Option<f64>,
    reasoned: fn(&ReasonedLimits) -> Option<Reasoned>,
}

const FIELDS: [Field; 6] = [
    Field {
        name: "cpu_weight_cores",
        amount: |it| it.cpu_weight_cores.map(cores),
        reasoned: |it| it.cpu_weight_cores,
    },
    Field {
        name: "cpu_cap_cores",
        amount: |it| it.cpu_cap_cores.map(cores),
        reasoned: |it| it.cpu_cap_cores,
    },
    Field {
        name: MEMORY,
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
            let planned = (field.reasoned)(&reasons);
            let in_force = (field.amount)(in_force);
            let why = self.why(field.name, planned, in_force)?;
            let next = next(&steps, field.amount);
            Some(LimitDetails {
                limit: field.name,
                in_force,
                planned: planned.map(|it| it.amount),
                next: next.map(|(_, amount)| amount),
                next_in_ms: next.map(|(in_ms, _)| in_ms),
                why,
            })
        };
        FIELDS.iter().filter_map(details).collect()
    }

    /// None for a limit that is neither planned nor in force.
    fn why(&self, limit: &str, planned: Option<Reasoned>, in_force: Option<f64>) -> Option<String> {
        let Some(planned) = planned else {
            in_force?;
            let why = if self.decides {
                "the plan has no such limit now: the agent lifts it with the next reply"
            } else {
                "the core plans no limits for the node now: the agent lifts what it has with the next reply, or \
                 when its last plan has run out"
            };
            return Some(why.to_owned());
        };
        let mut why = follows(limit, planned.why).to_owned();
        match in_force {
            Some(in_force) if is_same_step(in_force, planned.amount) => {}
            Some(in_force) if limit == MEMORY && in_force > planned.amount => why.push_str(
                "; the agent has reported more: it keeps a limit above what is resident and a margin, and lowers it in \
                 steps",
            ),
            Some(_) => why.push_str("; the agent's latest report has another amount"),
            None => why.push_str("; the agent's latest report has none"),
        }
        Some(why)
    }
}

fn follows(limit: &str, reason: LimitReason) -> &'static str {
    let is_cap = limit.contains("_cap_");
    match reason {
        LimitReason::Planned if is_cap => {
            "what is planned for now, margin included, times the cap ratio"
        }
        LimitReason::Planned if limit == MEMORY => {
            "the most that is planned from 6 s before now to 6 s after, margin included"
        }
        LimitReason::Planned => "what is planned for now, margin included",
        LimitReason::Least => "the least that is given; less is planned",
        LimitReason::Request if is_cap => "the request, which a cap is never below",
        LimitReason::Request => "the request; as much or more is planned",
        LimitReason::PastItsEnd => "the request, since the predicted end is near or past",
        LimitReason::HoldsMore => {
            "what it holds, margin included: more than was planned for any time up to now"
        }
        LimitReason::VirtualCores => {
            "without a profile in force: its part of the node's CPU by virtual cores"
        }
    }
}

/// When a field changes for the first time beyond the step that it is in, and to what.
fn next(steps: &[Step], amount: fn(&Limits) -> Option<f64>) -> Option<(u32, f64)> {
    let (first, later) = steps.split_first()?;
    let first = amount(&first.limits)?;
    let mut later = later.iter().filter_map(|step| Some((step.offset_ms, amount(&step.limits)?)));
    later.find(|(_, then)| !is_same_step(first, *then))
}

/// As people write it: 0.8, and not 0.800000011920929.
fn cores(cores: f32) -> f64 {
    (f64::from(cores) * 1e6).round() / 1e6
}
