//! Why a container has the limits that it has, and when they change next.

use elastane_core::cluster::ContainerLimits;
use elastane_core::plan::{
    LIMIT_NAMES, LimitReason, PlanSettings, Reasoned, ReasonedLimits, amounts, is_same_step,
};
use elastane_protocol::{CanLimit, Limits};
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
        let steps: Vec<_> =
            steps.iter().map(|step| (step.offset_ms, amounts(&step.limits))).collect();
        let limits = LIMIT_NAMES.into_iter().zip(reasons.all()).zip(amounts(in_force));
        let details = limits.enumerate().filter_map(|(place, ((limit, planned), in_force))| {
            let in_force = in_force.map(|amount| written(limit, amount));
            let why = self.why(limit, planned, in_force)?;
            let next = next(&steps, place);
            Some(LimitDetails {
                limit,
                in_force,
                planned: planned.map(|it| it.amount),
                next: next.map(|(_, amount)| written(limit, amount)),
                next_in_ms: next.map(|(in_ms, _)| in_ms),
                why,
            })
        });
        details.collect()
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
                "; the limit in force is higher: the agent keeps it above resident memory plus a \
                 margin and lowers it in steps",
            ),
            Some(_) => why.push_str("; the agent's latest report shows another limit in force"),
            None => why.push_str("; the agent's latest report shows no limit in force"),
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
        LimitReason::Least => "the minimum of this limit: the planned use is lower",
        LimitReason::Request if is_cap => "the request, which a cap is never below",
        LimitReason::Request => "the container's request: the planned use is as high or higher",
        LimitReason::PastItsEnd => "the request, since the predicted end is near or past",
        LimitReason::HoldsMore => {
            "what it holds, margin included: more than was planned for any time up to now"
        }
        LimitReason::VirtualCores => {
            "its share of the node's CPU by virtual cores, since no profile counts for it"
        }
    }
}

/// When the limit of this place changes for the first time beyond the step that it is in, and to what.
fn next(steps: &[(u32, [Option<f64>; 6])], place: usize) -> Option<(u32, f64)> {
    let ((_, first), later) = steps.split_first()?;
    let first = first[place]?;
    let mut later = later.iter().filter_map(|(in_ms, limits)| Some((*in_ms, limits[place]?)));
    later.find(|(_, then)| !is_same_step(first, *then))
}

/// As people write it: of cores 0.8, and not 0.800000011920929, which is the nearest that 32 bits have.
fn written(limit: &str, amount: f64) -> f64 {
    if limit.ends_with("_cores") { (amount * 1e6).round() / 1e6 } else { amount }
}
