//! A container as it would be on one node: whether it fits there, how good that would be, and how
//! much it would be delayed.

use super::admission::finds_some_left;
use super::application::Predicted;
use super::node_entry::{NodeEntry, Request};
use crate::amounts::Amounts;
use crate::available::Available;
use crate::by_plan::ByPlan;
use crate::delay::delay_ms;
use crate::demand::{Demand, DemandError};
use crate::fit::Excess;
use crate::need::Need;
use crate::policy::{Candidate, Place, Policy, Waiting};
use crate::resources::Resources;
use crate::windows::WindowSet;

/// How a policy is asked.
#[derive(Clone, Copy)]
pub(super) enum Judge<'a> {
    /// By the plan, in fixed point.
    Plan(ByPlan),
    /// Through the trait.
    Policy(&'a dyn Policy),
}

impl<'a> Judge<'a> {
    pub(super) fn of(policy: &'a dyn Policy) -> Self {
        match policy.by_plan() {
            Some(by) => Judge::Plan(by),
            None => Judge::Policy(policy),
        }
    }

    /// Brings up to date what this one looks at of a node.
    pub(super) fn look_at(self, entry: &mut NodeEntry, now_ms: i64) {
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
pub(super) struct Prospect<'a> {
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
    pub(super) fn new(
        judge: Judge<'a>,
        entry: &'a NodeEntry,
        predicted: Option<&'a Predicted>,
        request: Request,
        waiting: Waiting,
        now_ms: i64,
    ) -> Result<Self, DemandError> {
        let judged = match judge {
            Judge::Plan(by) => {
                Judged::Plan(by, need(entry, predicted, request)?, waiting.executors)
            }
            Judge::Policy(policy) => {
                let demand = planned_demand(entry, predicted, request)?;
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

    pub(super) fn fits(&self) -> Result<(), Excess> {
        match &self.judged {
            Judged::Plan(by, need, _) => need.fit(self.entry.plan.left(), by.peaks),
            Judged::Policy(policy, general) => policy.fits(&self.place(), &general.candidate()),
        }
    }

    /// Whether something is left now of all that it could wait for.
    pub(super) fn finds_some_left(&self) -> bool {
        match &self.judged {
            Judged::Plan(by, need, _) => {
                let horizon = need.life().unwrap_or(1);
                let demanded = need.demanded_in(0, horizon);
                let left_now = self.entry.plan.left().slot(0);
                finds_some_left(left_now, demanded, by.peaks)
            }
            Judged::Policy(policy, general) => {
                let left_now = Amounts::rounded_down(self.available().now());
                let most = Amounts::rounded_down(general.demand.peak());
                finds_some_left(left_now, most, policy.peaks())
            }
        }
    }

    pub(super) fn score(&self) -> f64 {
        match &self.judged {
            Judged::Plan(by, need, executors) => by.score(self.entry.plan.left(), need, *executors),
            Judged::Policy(policy, general) => policy.score(&self.place(), &general.candidate()),
        }
    }

    /// By how much it would be delayed; it is known that it is not but in the windows given.
    pub(super) fn delay_ms(&self, delayed_in: WindowSet) -> i64 {
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

/// What a container will use on this node, in fixed point.
pub(super) fn need<'a>(
    entry: &NodeEntry,
    predicted: Option<&'a Predicted>,
    request: Request,
) -> Result<Need<'a>, DemandError> {
    let capacity = entry.node.capacity;
    match predicted {
        Some(Predicted { demand, margin, .. }) => Ok(Need::predicted(demand, *margin, capacity)),
        None => Need::for_life(entry.request_resources(request), capacity),
    }
}

/// What a container will use on this node, capped at its size: predicted, or the request for life.
///
/// # Errors
/// A request that is no demand on this node.
pub(super) fn planned_demand(
    entry: &NodeEntry,
    predicted: Option<&Predicted>,
    request: Request,
) -> Result<Demand, DemandError> {
    let capacity = entry.node.capacity;
    match predicted {
        Some(predicted) => Ok(predicted.demand.capped(capacity)),
        None => Demand::for_life(entry.request_resources(request).capped(capacity)),
    }
}
