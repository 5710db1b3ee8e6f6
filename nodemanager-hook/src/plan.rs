//! The plan: limits per container, followed on the monotonic clock until the plan ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use elastane_protocol::{ContainerPlan, Limits, Reply, Step};

use crate::{audit::Reason, cgroups::Controller, container_id::ContainerId};

/// Limits over time, from the receipt of the plan.
#[derive(Debug)]
pub struct Plan {
    received: Instant,
    ends: Instant,
    steps: BTreeMap<ContainerId, Vec<Step>>,
    limits_memory: bool,
    limits_anything: bool,
}

impl Plan {
    /// Checks the plan of a reply received at `received`. If that fails, nothing of the reply may
    /// be used.
    pub fn new(reply: &Reply, received: Instant) -> Result<Self, String> {
        let (valid_for_ms, longest_ms) = (reply.valid_for_ms, Reply::LONGEST_VALID_MS);
        if valid_for_ms > longest_ms {
            return Err(format!("valid_for_ms = {valid_for_ms}: at most {longest_ms}"));
        }
        let mut steps = BTreeMap::new();
        for ContainerPlan { container, steps: of_it } in &reply.plans {
            let id: ContainerId = container.parse()?;
            check_steps(container, of_it)?;
            if steps.insert(id, of_it.clone()).is_some() {
                return Err(format!("{container} is in the plan twice"));
            }
        }
        let any = |is_meant: fn(&Limits) -> bool| {
            steps.values().flatten().any(|step| is_meant(&step.limits))
        };
        Ok(Self {
            received,
            ends: received + milliseconds(valid_for_ms),
            limits_memory: any(|limits| limits.memory_bytes.is_some()),
            limits_anything: any(|limits| *limits != Limits::default()),
            steps,
        })
    }

    /// No plan: it has ended already.
    pub fn ended(now: Instant) -> Self {
        let (limits_memory, limits_anything) = (false, false);
        Self { received: now, ends: now, steps: BTreeMap::new(), limits_memory, limits_anything }
    }

    pub(crate) fn has_ended(&self, now: Instant) -> bool {
        now >= self.ends
    }

    /// The limits of a container now; `None` if it is not in the plan or the plan has ended.
    pub fn limits_at(&self, container: &ContainerId, now: Instant) -> Option<Limits> {
        if self.has_ended(now) {
            return None;
        }
        let begun = |step: &&Step| self.received + milliseconds(step.offset_ms) <= now;
        self.steps.get(container)?.iter().take_while(begun).last().map(|step| step.limits)
    }

    /// The limits that a container should have now, and why.
    pub fn wanted(&self, container: &ContainerId, now: Instant) -> (Limits, Reason) {
        match self.limits_at(container, now) {
            Some(limits) => (limits, Reason::PlanStep),
            None if self.has_ended(now) => (Limits::default(), Reason::PlanEnded),
            None => (Limits::default(), Reason::NotInPlan),
        }
    }

    /// The controllers that the plan limits for a container at any time until its end. The
    /// container stays in their groups until then, instead of moving with each step.
    pub fn limited(&self, container: &ContainerId, now: Instant) -> BTreeSet<Controller> {
        let steps = self.steps.get(container).filter(|_| !self.has_ended(now));
        steps.into_iter().flatten().map(|step| &step.limits).flat_map(limited_by).collect()
    }

    /// Whether the plan limits the memory of any container.
    pub fn limits_memory(&self, now: Instant) -> bool {
        self.limits_memory && !self.has_ended(now)
    }

    pub fn limits_anything(&self, now: Instant) -> bool {
        self.limits_anything && !self.has_ended(now)
    }

    /// The time of the next change: a step begins or the plan ends.
    pub fn next_change(&self, now: Instant) -> Option<Instant> {
        let steps = self.steps.values().flatten();
        steps
            .map(|step| self.received + milliseconds(step.offset_ms))
            .chain([self.ends])
            .filter(|at| *at > now && *at <= self.ends)
            .min()
    }
}

fn limited_by(limits: &Limits) -> impl Iterator<Item = Controller> + use<> {
    let cpu = limits.cpu_weight_cores.is_some() || limits.cpu_cap_cores.is_some();
    let network =
        limits.network_weight_bytes_per_s.is_some() || limits.network_cap_bytes_per_s.is_some();
    [
        (Controller::Cpu, cpu),
        (Controller::Memory, limits.memory_bytes.is_some()),
        (Controller::Disk, limits.disk_cap_bytes_per_s.is_some()),
        (Controller::Network, network),
    ]
    .into_iter()
    .filter_map(|(controller, is_limited)| is_limited.then_some(controller))
}

fn milliseconds(count: u32) -> Duration {
    Duration::from_millis(count.into())
}

fn check_steps(container: &str, steps: &[Step]) -> Result<(), String> {
    let begins_at_zero = steps.first().is_some_and(|step| step.offset_ms == 0);
    let increases = steps.is_sorted_by(|one, next| one.offset_ms < next.offset_ms);
    if !begins_at_zero || !increases {
        return Err(format!("the steps of {container} do not begin at 0 or do not increase"));
    }
    for limits in steps.iter().map(|step| step.limits) {
        for (key, cores) in
            [("cpu_weight_cores", limits.cpu_weight_cores), ("cpu_cap_cores", limits.cpu_cap_cores)]
        {
            if let Some(value) = cores.filter(|cores| !cores.is_finite() || *cores < 0.0) {
                return Err(format!(
                    "{key} = {value} in the plan of {container}: a number of at least 0 is expected"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "container_1_1_1_1";

    fn step(offset_ms: u32, cap_cores: f32) -> Step {
        let limits = Limits {
            cpu_weight_cores: Some(1.0),
            cpu_cap_cores: Some(cap_cores),
            ..Limits::default()
        };
        Step { offset_ms, limits }
    }

    fn reply(steps: Vec<Step>) -> Reply {
        Reply {
            acknowledged: 0,
            valid_for_ms: 10_000,
            plans: vec![ContainerPlan { container: ID.into(), steps }],
            ..Reply::default()
        }
    }

    fn cap_at(plan: &Plan, at: Instant) -> Option<f32> {
        plan.limits_at(&ID.parse().unwrap(), at).and_then(|limits| limits.cpu_cap_cores)
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
        assert_eq!(plan.limits_at(&other, now), None);
        assert!(plan.limited(&other, now).is_empty());
    }

    #[test]
    fn everything_that_a_step_limits_is_limited_until_the_plan_ends() {
        let start = Instant::now();
        let mut later = step(5000, 1.0);
        later.limits.memory_bytes = Some(1 << 30);
        let id = ID.parse().unwrap();
        let plan = Plan::new(&reply(vec![step(0, 1.0), later]), start).unwrap();
        let both = BTreeSet::from([Controller::Cpu, Controller::Memory]);
        assert_eq!(plan.limited(&id, start), both);
        assert!(plan.limits_memory(start) && plan.limits_anything(start));
        let end = start + milliseconds(10_000);
        assert!(plan.limited(&id, end).is_empty());
        assert!(!plan.limits_memory(end) && !plan.limits_anything(end));
    }

    #[test]
    fn an_invalid_plan_is_refused() {
        let mut twice = reply(vec![step(0, 1.0)]);
        twice.plans.push(twice.plans[0].clone());
        let longest = Reply { valid_for_ms: Reply::LONGEST_VALID_MS, ..reply(vec![step(0, 1.0)]) };
        assert!(Plan::new(&longest, Instant::now()).is_ok());
        let longer = Reply { valid_for_ms: Reply::LONGEST_VALID_MS + 1, ..longest };
        for (reply, why) in [
            (reply(vec![]), "the steps of container_1_1_1_1 do not begin at 0"),
            (reply(vec![step(1, 1.0)]), "the steps of container_1_1_1_1 do not begin at 0"),
            (reply(vec![step(0, 1.0), step(0, 1.0)]), "the steps of container_1_1_1_1"),
            (reply(vec![step(0, -1.0)]), "cpu_cap_cores = -1 in the plan of container_1_1_1_1"),
            (reply(vec![step(0, f32::NAN)]), "cpu_cap_cores = NaN in the plan"),
            (twice, "container_1_1_1_1 is in the plan twice"),
            (longer, "valid_for_ms = 3600001: at most 3600000"),
        ] {
            let error = Plan::new(&reply, Instant::now()).unwrap_err().to_string();
            assert!(error.starts_with(why), "{error}");
        }
    }
}
