//! Limits over time of every container of a node.

use std::cell::OnceCell;
use std::sync::Arc;

use elastane_protocol::{CanLimit, Step};

use crate::cluster::state::{Container, NodeEntry, State};
use crate::node::ExecutorId;
use crate::plan::{LimitPlan, PlanSettings, ReasonedLimits};
use crate::resources::Resources;
use crate::running::Running;
use crate::timeline::on_grid_ms;

/// Maximum number of steps for all containers of a node. At about 37 bytes each they leave room for
/// hundreds of ids in a message of 256 KiB.
const MOST_STEPS_OF_A_NODE: usize = 6_000;

/// What the limits of a node's containers follow.
pub struct NodeLimits<'a> {
    state: &'a State,
    entry: &'a NodeEntry,
    /// The executor to which the node's remaining resources are lent.
    lent_to: Option<ExecutorId>,
    /// The sum over the node; few ask for it.
    all_vcores: OnceCell<f64>,
    most_steps: usize,
}

/// What the limits of one container follow, as plain data.
#[derive(Debug, Clone)]
pub struct ContainerLimits {
    running: Running,
    /// None if limits follow what is planned for it. The use of an executor without a profile is unknown, and that
    /// of one in observe counts as unknown. Where CPU is weighed, it weighs its share of the virtual cores that run
    /// there, so that it neither starves nor starves others.
    share_of_vcores_cores: Option<f64>,
    is_observed: bool,
    margin: f64,
    request: Resources,
    most_steps: usize,
}

impl<'a> NodeLimits<'a> {
    pub(crate) fn of(state: &'a State, entry: &'a NodeEntry, lent_to: Option<ExecutorId>) -> Self {
        let most_steps = MOST_STEPS_OF_A_NODE / entry.containers.len().max(1);
        Self { state, entry, lent_to, all_vcores: OnceCell::new(), most_steps }
    }

    /// What the limits of each container of the node follow.
    pub fn containers(
        &self,
    ) -> impl Iterator<Item = (&'a Arc<str>, &'a Container, ContainerLimits)> {
        let containers = self.state.containers_on(self.entry);
        containers
            .filter_map(|(id, container)| Some((id, container, self.of_container(container)?)))
    }

    /// None for a container of another node.
    pub fn of_container(&self, container: &Container) -> Option<ContainerLimits> {
        let is_observed = self.state.is_observed(container);
        let is_known = container.profile().is_some() && !is_observed;
        Some(ContainerLimits {
            running: self.planned(container)?,
            share_of_vcores_cores: (!is_known).then(|| self.share_of_vcores_cores(container)),
            is_observed,
            margin: container.margin,
            request: self.entry.request_resources(container.request),
            most_steps: self.most_steps,
        })
    }

    fn share_of_vcores_cores(&self, container: &Container) -> f64 {
        let there = || self.state.containers_on(self.entry).map(|(_, container)| vcores(container));
        let all_vcores = *self.all_vcores.get_or_init(|| there().sum());
        self.entry.node.capacity.cpu_cores * vcores(container) / all_vcores
    }

    /// The executor that a container's limits follow. While nothing but time moved its demand, the
    /// demand counts from the start itself and not from the slot of the start.
    fn planned(&self, container: &Container) -> Option<Running> {
        let mut running = self.entry.node.get(container.executor)?.clone();
        let was_moved = running.start_ms != on_grid_ms(container.start_ms, container.start_ms);
        if !was_moved && self.lent_to != Some(container.executor) {
            running.start_ms = container.start_ms;
        }
        Some(running)
    }
}

impl ContainerLimits {
    /// The limits from `now_ms` on, as far as an agent can set them; empty if nothing is limited.
    pub fn steps(&self, settings: &PlanSettings, can_limit: CanLimit, now_ms: i64) -> Vec<Step> {
        match self.share_of_vcores_cores {
            None => self.plan(settings, can_limit).steps(&self.running, now_ms),
            Some(cores) => {
                let limits = by_virtual_cores(cores, settings, can_limit);
                limits.map(|it| Step { offset_ms: 0, limits: it.limits() }).into_iter().collect()
            }
        }
    }

    /// The limits at `now_ms`, with their reasons.
    pub fn reasoned(
        &self,
        settings: &PlanSettings,
        can_limit: CanLimit,
        now_ms: i64,
    ) -> ReasonedLimits {
        match self.share_of_vcores_cores {
            None => self.plan(settings, can_limit).reasoned(&self.running, now_ms),
            Some(cores) => by_virtual_cores(cores, settings, can_limit).unwrap_or_default(),
        }
    }

    /// The time that its demand counts from; its progress moves it.
    pub fn start_ms(&self) -> i64 {
        self.running.start_ms
    }

    /// By how much its progress moved its demand, where the container started at this time; earlier if negative.
    pub fn moved_ms(&self, started_ms: i64) -> i64 {
        match self.running.start_ms {
            start_ms if start_ms == started_ms => 0,
            start_ms => start_ms.saturating_sub(on_grid_ms(started_ms, started_ms)),
        }
    }

    /// The same, had its demand counted from this time.
    pub fn started_at(&self, start_ms: i64) -> Self {
        Self { running: Running { start_ms, ..self.running.clone() }, ..self.clone() }
    }

    /// Its request, as resources of its node.
    pub fn request(&self) -> Resources {
        self.request
    }

    /// Whether its application is in observe.
    pub fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// Whether no profile counts for it.
    pub fn is_by_virtual_cores(&self) -> bool {
        self.share_of_vcores_cores.is_some()
    }

    fn plan<'b>(&self, settings: &'b PlanSettings, can_limit: CanLimit) -> LimitPlan<'b> {
        let Self { most_steps, margin, request, .. } = *self;
        LimitPlan { settings, can_limit, most_steps, margin, request }
    }
}

fn by_virtual_cores(
    cores: f64,
    settings: &PlanSettings,
    can_limit: CanLimit,
) -> Option<ReasonedLimits> {
    let weighs = settings.weighs_cpu && can_limit.cpu;
    weighs.then(|| ReasonedLimits::by_virtual_cores(cores))
}

fn vcores(container: &Container) -> f64 {
    f64::from(container.request.vcores.max(1))
}
