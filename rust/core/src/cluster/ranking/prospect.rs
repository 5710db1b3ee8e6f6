//! A container as it would run on one node: its fit and its score.

use crate::by_plan::{ByPlan, SLOT_S};
use crate::cluster::state::{ApplicationId, NodeEntry, NodeId, Predicted, Request, State};
use crate::demand::Demand;
use crate::fit::Excess;
use crate::need::Need;
use crate::policy::{Candidate, Place, Policy, Waiting};
use crate::resources::{Resource, Resources};

/// How a policy is evaluated.
#[derive(Clone, Copy)]
pub(crate) enum Judge<'a> {
    /// In fixed point, by the node's plan.
    Plan(ByPlan),
    /// Through the trait [`Policy`].
    Policy(&'a dyn Policy),
}

impl<'a> Judge<'a> {
    pub(crate) fn of(policy: &'a dyn Policy) -> Self {
        match policy.by_plan() {
            Some(by) => Judge::Plan(by),
            None => Judge::Policy(policy),
        }
    }

    /// Refreshes the parts of the node's plan that this judge reads.
    pub(crate) fn refresh(self, entry: &mut NodeEntry, now_ms: i64) {
        match self {
            Judge::Plan(_) => entry.plan.refresh_left(&mut entry.node, now_ms),
            Judge::Policy(policy) => {
                if policy.looks_ahead() {
                    entry.plan.refresh_available(&mut entry.node, now_ms);
                } else {
                    entry.plan.assume_idle(&mut entry.node, now_ms);
                }
                entry.plan.rates = policy.rates(&entry.node, now_ms);
            }
        }
    }
}

/// A container as it would run on a node that its judge has refreshed.
pub(crate) struct Prospect<'a> {
    entry: &'a NodeEntry,
    now_ms: i64,
    need: Need<'a>,
    waiting: Waiting,
    judged: Judged<'a>,
}

enum Judged<'a> {
    Plan(ByPlan),
    Policy(&'a dyn Policy, Box<General>),
}

struct General {
    /// Its demand, predicted or the request for life, capped at the node's capacity.
    demand: Demand,
    /// The demand with its margin, capped at the node's capacity: a container whose request fits an
    /// empty node fits it by prediction too.
    needed: Demand,
    request: Resources,
}

impl<'a> Prospect<'a> {
    pub(crate) fn new(
        judge: Judge<'a>,
        entry: &'a NodeEntry,
        predicted: Option<&'a Predicted>,
        request: Request,
        waiting: Waiting,
        now_ms: i64,
    ) -> Self {
        let judged = match judge {
            Judge::Plan(by) => Judged::Plan(by),
            Judge::Policy(policy) => {
                let demand = entry.planned_demand(predicted, request);
                let margin = predicted.map_or(0.0, |predicted| predicted.margin);
                let general = General {
                    needed: demand.with_margin(margin).capped(entry.node.capacity),
                    demand,
                    request: entry.request_resources(request),
                };
                Judged::Policy(policy, Box::new(general))
            }
        };
        Self { entry, now_ms, need: entry.need(predicted, request), waiting, judged }
    }

    /// The next container of an application on a node that this judge has refreshed.
    pub(crate) fn next_of(
        judge: Judge<'a>,
        state: &'a State,
        node: NodeId,
        application: ApplicationId,
        now_ms: i64,
    ) -> Option<Self> {
        let entry = state.nodes.get(node)?;
        let application = state.applications.get(&application)?;
        let ask = application.waiting?;
        let predicted = application.demands.of(ask.kind);
        let waiting = application.as_waiting(state.nodes.registered());
        Some(Self::new(judge, entry, predicted, ask.request, waiting, now_ms))
    }

    pub(crate) fn fits(&self) -> Result<(), Excess> {
        match &self.judged {
            Judged::Plan(by) => self.need.fit(self.entry.plan.left(), by.peaks),
            Judged::Policy(policy, general) => policy.fits(&self.place(), &self.candidate(general)),
        }
    }

    /// Whether the container would fit if `resource` were unlimited. Always false for policies not by the plan.
    pub(crate) fn fits_but_for(&self, resource: Resource) -> bool {
        match &self.judged {
            Judged::Plan(by) => self.need.fits_but_for(self.entry.plan.left(), by.peaks, resource),
            Judged::Policy(..) => false,
        }
    }

    pub(crate) fn score(&self) -> f64 {
        match &self.judged {
            Judged::Plan(by) => {
                by.explain(self.entry.plan.left(), &self.need, self.waiting.executors, SLOT_S).score
            }
            Judged::Policy(policy, general) => {
                policy.score(&self.place(), &self.candidate(general))
            }
        }
    }

    fn candidate<'b>(&self, general: &'b General) -> Candidate<'b> {
        Candidate {
            demand: &general.demand,
            needed: &general.needed,
            request: general.request,
            waiting: self.waiting,
        }
    }

    fn place(&self) -> Place<'_> {
        Place {
            node: &self.entry.node,
            available: self.entry.plan.available(),
            booked: self.entry.request_resources(self.entry.booked),
            now_ms: self.now_ms,
            rates: self.entry.plan.rates.as_ref(),
        }
    }
}
