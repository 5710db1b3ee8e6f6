//! The plan: CPU steps by container, followed on the monotonic clock until it runs out.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use elastane_protocol::{ContainerPlan, CpuStep, Reply};

use crate::container_id::{ContainerId, ContainerIdError};

/// Why a plan is refused.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Id(#[from] ContainerIdError),
    #[error("{container} is in the plan twice")]
    Twice { container: ContainerId },
    #[error("the steps of {container} do not begin at 0 and grow")]
    Order { container: ContainerId },
    #[error("{key} = {value} in the plan of {container}: allowed is a number of at least 0")]
    Cores {
        container: ContainerId,
        key: &'static str,
        value: f32,
    },
}

/// Limits over time, counted from when they were received.
#[derive(Debug)]
pub struct Plan {
    received: Instant,
    ends: Instant,
    steps: BTreeMap<ContainerId, Vec<CpuStep>>,
}

impl Plan {
    /// Checks a reply's plan; it holds from `received`.
    ///
    /// # Errors
    /// Ids, offsets or cores that cannot be; nothing of the reply may be used then.
    pub fn new(reply: &Reply, received: Instant) -> Result<Self, PlanError> {
        let mut steps = BTreeMap::new();
        for plan in &reply.plans {
            let container: ContainerId = plan.container.parse()?;
            check_steps(&container, plan)?;
            if steps.insert(container.clone(), plan.cpu.clone()).is_some() {
                return Err(PlanError::Twice { container });
            }
        }
        Ok(Self {
            received,
            ends: received + milliseconds(reply.valid_for_ms),
            steps,
        })
    }

    /// Whether the plan has run out.
    pub fn has_ended(&self, now: Instant) -> bool {
        now >= self.ends
    }

    /// The step that holds for a container, unless it is not to be limited.
    pub fn step_at(&self, container: &ContainerId, now: Instant) -> Option<CpuStep> {
        if self.has_ended(now) {
            return None;
        }
        let begun = |step: &&CpuStep| self.received + milliseconds(step.offset_ms) <= now;
        self.steps
            .get(container)?
            .iter()
            .take_while(begun)
            .last()
            .copied()
    }

    /// When something changes next: a step begins or the plan ends.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let steps = self.steps.values().flatten();
        steps
            .map(|step| self.received + milliseconds(step.offset_ms))
            .chain([self.ends])
            .filter(|at| *at > now && *at <= self.ends)
            .min()
    }
}

fn milliseconds(count: u32) -> Duration {
    Duration::from_millis(count.into())
}

fn check_steps(container: &ContainerId, plan: &ContainerPlan) -> Result<(), PlanError> {
    let begins_at_zero = plan.cpu.first().is_some_and(|step| step.offset_ms == 0);
    let grows = plan
        .cpu
        .windows(2)
        .all(|pair| pair[0].offset_ms < pair[1].offset_ms);
    if !begins_at_zero || !grows {
        let container = container.clone();
        return Err(PlanError::Order { container });
    }
    for step in &plan.cpu {
        let weight = ("weight_cores", Some(step.weight_cores));
        for (key, value) in [weight, ("cap_cores", step.cap_cores)] {
            if let Some(value) = value.filter(|cores| !cores.is_finite() || *cores < 0.0) {
                let container = container.clone();
                return Err(PlanError::Cores {
                    container,
                    key,
                    value,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "container_1_1_1_1";

    fn step(offset_ms: u32, cap_cores: f32) -> CpuStep {
        CpuStep {
            offset_ms,
            weight_cores: 1.0,
            cap_cores: Some(cap_cores),
        }
    }

    fn reply(cpu: Vec<CpuStep>) -> Reply {
        Reply {
            acknowledged: 0,
            valid_for_ms: 10_000,
            plans: vec![ContainerPlan {
                container: ID.into(),
                cpu,
            }],
        }
    }

    fn cap_at(plan: &Plan, at: Instant) -> Option<f32> {
        plan.step_at(&ID.parse().unwrap(), at)
            .and_then(|step| step.cap_cores)
    }

    #[test]
    fn steps_follow_each_other_until_the_plan_ends() {
        let start = Instant::now();
        let after = |ms| start + milliseconds(ms);
        let plan = Plan::new(&reply(vec![step(0, 0.3), step(3000, 0.7)]), start).unwrap();
        assert_eq!(cap_at(&plan, start), Some(0.3));
        assert_eq!(cap_at(&plan, after(2999)), Some(0.3));
        assert_eq!(cap_at(&plan, after(3000)), Some(0.7));
        assert_eq!(cap_at(&plan, after(9999)), Some(0.7));
        assert_eq!(cap_at(&plan, after(10_000)), None);
        assert!(plan.has_ended(after(10_000)));
        assert_eq!(plan.next_change(start), Some(after(3000)));
        assert_eq!(plan.next_change(after(3000)), Some(after(10_000)));
        assert_eq!(plan.next_change(after(10_000)), None);
    }

    #[test]
    fn a_container_without_an_entry_is_not_limited() {
        let now = Instant::now();
        let plan = Plan::new(&reply(vec![step(0, 0.3)]), now).unwrap();
        let other = "container_1_1_1_2".parse().unwrap();
        assert_eq!(plan.step_at(&other, now), None);
    }

    #[test]
    fn a_plan_that_cannot_be_is_refused() {
        let mut twice = reply(vec![step(0, 1.0)]);
        twice.plans.push(twice.plans[0].clone());
        for (reply, why) in [
            (
                reply(vec![]),
                "the steps of container_1_1_1_1 do not begin at 0",
            ),
            (
                reply(vec![step(1, 1.0)]),
                "the steps of container_1_1_1_1 do not begin at 0",
            ),
            (
                reply(vec![step(0, 1.0), step(0, 1.0)]),
                "the steps of container_1_1_1_1",
            ),
            (
                reply(vec![step(0, -1.0)]),
                "cap_cores = -1 in the plan of container_1_1_1_1",
            ),
            (
                reply(vec![step(0, f32::NAN)]),
                "cap_cores = NaN in the plan",
            ),
            (twice, "container_1_1_1_1 is in the plan twice"),
        ] {
            let error = Plan::new(&reply, Instant::now()).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
