//! A container as it would be on one node: whether it fits there, how good that would be, and how
//! much it would be delayed.

use crate::amounts::Amounts;
use crate::available::Available;
use crate::by_plan::ByPlan;
use crate::cluster::state::{ApplicationId, NodeEntry, NodeId, Predicted, Request, State};
use crate::delay::delay_ms;
use crate::demand::{Demand, DemandError};
use crate::fit::Excess;
use crate::need::Need;
use crate::policy::{Candidate, Place, Policy, Waiting};
use crate::resources::{Resource, Resources};
use crate::windows::WindowSet;

/// How a policy is asked.
#[derive(Clone, Copy)]
pub(crate) enum Judge<'a> {
    /// By the plan, in fixed point.
    Plan(ByPlan),
    /// Through the trait.
    Policy(&'a dyn Policy),
}

impl<'a> Judge<'a> {
    pub(crate) fn of(policy: &'a dyn Policy) -> Self {
        match policy.by_plan() {
            Some(by) => Judge::Plan(by),
            None => Judge::Policy(policy),
        }
    }

    /// Brings up to date what this one looks at of a node.
    pub(crate) fn look_at(self, entry: &mut NodeEntry, now_ms: i64) {
        match self {
            Judge::Plan(_) => entry.plan.look_at_left(&mut entry.node, now_ms),
            Judge::Policy(policy) => {
                if policy.looks_ahead() {
                    entry.plan.look_at_available(&mut entry.node, now_ms);
                } else {
                    entry.plan.look_at_nothing(&mut entry.node, now_ms);
                }
                entry.plan.look_at_rates(policy.rates(&entry.node, now_ms));
            }
        }
    }
}

/// The next container of an application as it would be on a node, at which its judge has looked.
pub(crate) struct Prospect<'a> {
    entry: &'a NodeEntry,
    now_ms: i64,
    judged: Judged<'a>,
}

enum Judged<'a> {
    Plan(ByPlan, Need<'a>, u32),
    Policy(&'a dyn Policy, General),
}

struct General {
    /// What it will use, capped at the node's size: predicted, or the request for life.
    demand: Demand,
    /// With its margin, which never asks for more than the node has, so that what fits an empty
    /// node by request fits it by prediction too.
    needed: Demand,
    request: Resources,
    waiting: Waiting,
}

impl<'a> Prospect<'a> {
    /// # Errors
    /// A request that is no demand on this node.
    pub(crate) fn new(
        judge: Judge<'a>,
        entry: &'a NodeEntry,
        predicted: Option<&'a Predicted>,
        request: Request,
        waiting: Waiting,
        now_ms: i64,
    ) -> Result<Self, DemandError> {
        let judged = match judge {
            Judge::Plan(by) => Judged::Plan(by, entry.need(predicted, request)?, waiting.executors),
            Judge::Policy(policy) => {
                let demand = entry.planned_demand(predicted, request)?;
                let margin = predicted.map_or(0.0, |predicted| predicted.margin);
                let general = General {
                    needed: demand.with_margin(margin).capped(entry.node.capacity),
                    demand,
                    request: entry.request_resources(request),
                    waiting,
                };
                Judged::Policy(policy, general)
            }
        };
        Ok(Self {
            entry,
            now_ms,
            judged,
        })
    }

    /// The next container of an application on a node at which this judge has looked.
    pub(crate) fn next_of(
        judge: Judge<'a>,
        state: &'a State,
        node: NodeId,
        application: ApplicationId,
        now_ms: i64,
    ) -> Option<Self> {
        let entry = state.nodes.get(node)?;
        let application = state.applications.get(application)?;
        let ask = application.waiting?;
        let predicted = application.demands.of(ask.kind);
        let waiting = application.as_waiting(state.nodes.registered());
        Self::new(judge, entry, predicted, ask.request, waiting, now_ms).ok()
    }

    pub(crate) fn fits(&self) -> Result<(), Excess> {
        match &self.judged {
            Judged::Plan(by, need, _) => need.fit(self.entry.plan.left(), by.peaks),
            Judged::Policy(policy, general) => policy.fits(&self.place(), &general.candidate()),
        }
    }

    /// Whether something is left now of all that it could wait for.
    pub(crate) fn finds_some_left(&self) -> bool {
        match &self.judged {
            Judged::Plan(_, need, _) => {
                let horizon = need.life().unwrap_or(1);
                let demanded = need.demanded_in(0, horizon);
                let left_now = self.entry.plan.left().slot(0);
                finds_some_left(left_now, demanded)
            }
            Judged::Policy(_, general) => {
                let left_now = Amounts::rounded_down(self.available().now());
                let most = Amounts::rounded_down(general.demand.peak());
                finds_some_left(left_now, most)
            }
        }
    }

    pub(crate) fn score(&self) -> f64 {
        match &self.judged {
            Judged::Plan(by, need, executors) => by.score(self.entry.plan.left(), need, *executors),
            Judged::Policy(policy, general) => policy.score(&self.place(), &general.candidate()),
        }
    }

    /// By how much it would be delayed; it is known that it is not but in the windows given.
    pub(crate) fn delay_ms(&self, delayed_in: WindowSet) -> i64 {
        match &self.judged {
            Judged::Plan(_, need, _) => need.delay_ms(self.entry.plan.left(), delayed_in),
            Judged::Policy(_, general) => delay_ms(self.available(), &general.demand),
        }
    }

    fn available(&self) -> &Available {
        self.entry.plan.available()
    }

    fn place(&self) -> Place<'_> {
        Place {
            node: &self.entry.node,
            available: self.available(),
            booked: self.entry.request_resources(self.entry.booked),
            now_ms: self.now_ms,
            rates: self.entry.plan.rates(),
        }
    }
}

impl General {
    fn candidate(&self) -> Candidate<'_> {
        Candidate {
            demand: &self.demand,
            needed: &self.needed,
            request: self.request,
            waiting: self.waiting,
        }
    }
}

/// Whether something is left now of each resource that an executor with this demand will use and that it
/// could wait for; memory that is booked by request is there.
pub(crate) fn finds_some_left(left_now: Amounts, demanded: Amounts) -> bool {
    let some_left = |resource| demanded.get(resource) == 0 || left_now.get(resource) > 0;
    Resource::FLOWS.into_iter().all(some_left)
}
