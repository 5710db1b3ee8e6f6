//! A node as YARN registered it and as its agent measured it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::countables::OfferedCountables;
use super::demands::{Observed, Predicted};
use super::last_round::{Considered, LastRound};
use super::node_plan::NodePlan;
use super::request::Request;
use crate::amounts::Amounts;
use crate::cluster::bookable::{BookableRatio, Booked, Growth};
use crate::cluster::settings::ClusterSettings;
use crate::demand::Demand;
use crate::need::Need;
use crate::node::{ExecutorId, Node};
use crate::resources::Resources;
use crate::running::Running;

/// One node.
#[derive(Debug, Clone)]
pub struct NodeEntry {
    /// YARN's name, `host:port`.
    pub name: String,
    /// The size that the NodeManager registered.
    pub registered: Request,
    /// Sum of the running containers' requests; without vcores where CapacityScheduler does not count them.
    pub booked: Request,
    /// Physical size and running executors.
    pub node: Node,
    /// When the agent last reported.
    pub last_report_ms: Option<i64>,
    /// The node's label; empty for none.
    pub label: Arc<str>,
    /// Whether the core's decisions are enforced here.
    pub is_enforced: bool,
    /// Whether YARN takes the node out of the cluster: nothing starts here any more.
    pub is_draining: bool,
    /// Bookable over registered size, as last sent to Java.
    pub bookable: BookableRatio,
    /// What the node's demand proves to be bookable, when its plan was last read.
    pub(crate) proven: Booked,
    /// Memory that the plan holds in its fullest slot, when it was last read.
    pub(crate) fullest_bytes: i64,
    pub(crate) growth: Growth,
    /// When the node was lowered to its registered size, and from which one.
    pub(crate) lowered: Option<Lowered>,
    /// YARN's container id of each running executor.
    pub(crate) containers: BTreeMap<ExecutorId, Arc<str>>,
    pub(crate) plan: NodePlan,
    pub(crate) countables: OfferedCountables,
    pub(crate) last_round: LastRound,
    measured_capacity: Option<Resources>,
    /// When its agent last named containers that have to give way.
    short_ms: Option<i64>,
    /// Until then a report that is too old counts as fresh.
    excused_until_ms: i64,
    /// The report for which the node was excused.
    excused_report_ms: Option<i64>,
}

/// A node stays at its registered size for this time after it was short of memory: what leaves it comes back otherwise,
/// and has to leave again.
const SHORT_FOR_MS: i64 = 300_000;

/// Why a container starts nowhere above the registered size of a node, where CapacityScheduler alone would not start it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisteredOnly {
    /// Its application is in observe.
    Observed(Observed),
    /// The node was short of memory a short time ago.
    ShortOfMemory,
}

/// A node that went back to its registered size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lowered {
    pub(crate) from: BookableRatio,
    pub(crate) at_ms: i64,
}

impl NodeEntry {
    pub(crate) fn new(name: &str, registered: Request) -> Self {
        let mut entry = Self {
            name: name.to_owned(),
            registered,
            booked: Request::default(),
            node: Node::new(Resources::ZERO),
            last_report_ms: None,
            label: Arc::default(),
            is_enforced: false,
            is_draining: false,
            bookable: BookableRatio::REGISTERED,
            proven: Booked::default(),
            fullest_bytes: 0,
            growth: Growth::default(),
            lowered: None,
            containers: BTreeMap::new(),
            plan: NodePlan::default(),
            countables: OfferedCountables::default(),
            last_round: LastRound::default(),
            measured_capacity: None,
            short_ms: None,
            excused_until_ms: i64::MIN,
            excused_report_ms: None,
        };
        entry.derive_capacity();
        entry
    }

    /// The applications that were considered for the node when it was last offered, best first; none if that was not
    /// just now.
    pub fn considered(&self, now_ms: i64) -> &[Considered] {
        self.last_round.considered(now_ms)
    }

    pub(crate) fn resize(&mut self, registered: Request) {
        self.forget_lowered_if_down();
        self.registered = registered;
        // The node may have less of them now.
        self.countables = OfferedCountables::default();
        self.derive_capacity();
    }

    /// A size that is not a positive number counts as unknown. Returns whether the size changed.
    pub(crate) fn reported(&mut self, capacity: Resources, now_ms: i64) -> bool {
        let capacity = capacity.map(|size| if size.is_finite() { size.max(0.0) } else { 0.0 });
        self.last_report_ms = Some(now_ms);
        let is_new = self.measured_capacity != Some(capacity);
        if is_new {
            self.measured_capacity = Some(capacity);
            self.derive_capacity();
        }
        is_new
    }

    /// Memory is the smaller of the registered and the measured size. Until an agent has measured
    /// the cores, a registered vcore counts as one core.
    fn derive_capacity(&mut self) {
        let registered = Resources {
            cpu_cores: f64::from(self.registered.vcores),
            memory_bytes: self.registered.memory_bytes as f64,
            ..Resources::ZERO
        };
        self.node.capacity = match self.measured_capacity {
            None => registered,
            Some(measured) => Resources {
                memory_bytes: registered.memory_bytes.min(measured.memory_bytes),
                ..measured
            },
        };
        self.plan.changed();
    }

    /// The containers that run here, by YARN's id.
    pub fn containers(&self) -> impl Iterator<Item = (&str, &Running)> {
        let named = self.containers.iter();
        named.filter_map(|(executor, id)| Some((&**id, self.node.get(*executor)?)))
    }

    /// Whether the agent's latest report is recent enough to act on.
    pub fn is_fresh(&self, fresh_for_ms: i64, now_ms: i64) -> bool {
        let is_young = |last_ms| now_ms.saturating_sub(last_ms) <= fresh_for_ms;
        self.last_report_ms.is_some_and(is_young) || now_ms <= self.excused_until_ms
    }

    /// The latest report counts as fresh up to this time; once for each report.
    pub(crate) fn excuse(&mut self, until_ms: i64) {
        if self.excused_report_ms != self.last_report_ms {
            self.excused_report_ms = self.last_report_ms;
            self.excused_until_ms = until_ms;
        }
    }

    pub(crate) fn set_bookable(&mut self, ratio: BookableRatio, now_ms: i64) {
        let is_lowered = self.bookable.is_raised() && !ratio.is_raised();
        self.lowered = is_lowered.then_some(Lowered { from: self.bookable, at_ms: now_ms });
        self.bookable = ratio;
    }

    /// The registered size, with virtual cores where CapacityScheduler counts them.
    pub(crate) fn registered_as_booked(&self, virtual_cores_count: bool) -> Booked {
        Booked::from(self.registered.bookable(virtual_cores_count))
    }

    /// Whether the node's bookable capacity follows its demand: mode `enforce`, and a fresh report.
    pub(crate) fn is_followed(&self, settings: &ClusterSettings, now_ms: i64) -> bool {
        self.is_enforced && self.is_fresh(settings.fresh_for_ms, now_ms)
    }

    /// Whether the core decides about this node: mode `enforce` and a fresh report, or a node that
    /// is still raised after its agent fell silent or the mode was left. CapacityScheduler alone
    /// would book a raised node above its physical size in the moment before it is lowered.
    pub(crate) fn is_decided(&self, settings: &ClusterSettings, now_ms: i64) -> bool {
        self.is_followed(settings, now_ms) || self.bookable.is_raised()
    }

    /// A request as resources of this node: its cores are vcores × physical cores ÷ registered
    /// vcores; network and disk are 0.
    pub(crate) fn request_resources(&self, request: Request) -> Resources {
        let registered = f64::from(self.registered.vcores.max(1));
        Resources {
            cpu_cores: f64::from(request.vcores) * self.node.capacity.cpu_cores / registered,
            memory_bytes: request.memory_bytes as f64,
            ..Resources::ZERO
        }
    }

    /// A container's needs on this node, in fixed point.
    pub(crate) fn need<'a>(&self, predicted: Option<&'a Predicted>, request: Request) -> Need<'a> {
        let capacity = self.node.capacity;
        match predicted {
            Some(Predicted { demand, margin, .. }) => Need::predicted(demand, *margin, capacity),
            None => Need::for_life(self.request_resources(request), capacity),
        }
    }

    /// A container's demand on this node, capped at the node's capacity: predicted, or the request for life.
    pub(crate) fn planned_demand(&self, predicted: Option<&Predicted>, request: Request) -> Demand {
        let capacity = self.node.capacity;
        match predicted {
            Some(predicted) => predicted.demand.capped(capacity),
            None => Demand::for_life(self.request_resources(request).capped(capacity)),
        }
    }

    /// The mean of [`NodeEntry::planned_demand`].
    pub(crate) fn planned_mean(&self, predicted: Option<&Predicted>, request: Request) -> Amounts {
        Amounts::rounded_down(self.planned_demand(predicted, request).mean())
    }

    /// The registered size; vcores are unlimited where CapacityScheduler does not count them.
    pub(crate) fn registered_size(&self, virtual_cores_count: bool) -> Request {
        let vcores = if virtual_cores_count { self.registered.vcores } else { u32::MAX };
        Request { vcores, ..self.registered }
    }

    /// What CapacityScheduler may book in total; vcores are unlimited where it does not count them.
    pub(crate) fn bookable_size(&self, virtual_cores_count: bool) -> Request {
        let bookable = |registered: u64, thousandths: u32| {
            let bookable = u128::from(registered) * u128::from(thousandths) / 1_000;
            u64::try_from(bookable).unwrap_or(u64::MAX)
        };
        let BookableRatio { memory_thousandths, vcores_thousandths } = self.bookable;
        let vcores = bookable(u64::from(self.registered.vcores), vcores_thousandths);
        Request {
            memory_bytes: bookable(self.registered.memory_bytes, memory_thousandths),
            vcores: match virtual_cores_count {
                true => u32::try_from(vcores).unwrap_or(u32::MAX),
                false => u32::MAX,
            },
        }
    }

    /// What CapacityScheduler may still book; vcores are unlimited where it does not count them.
    pub fn free(&self, virtual_cores_count: bool) -> Request {
        self.bookable_size(virtual_cores_count).minus(self.booked)
    }

    /// Whether a container of this request fits into the registered size beside the booked containers.
    pub(crate) fn has_room_by_request(&self, request: Request) -> bool {
        request.fits_into(self.registered.minus(self.booked))
    }

    /// The node's agent named containers that have to give way.
    pub(crate) fn ran_short(&mut self, now_ms: i64) {
        self.short_ms = Some(now_ms);
    }

    /// Whether the node was short of memory a short time ago.
    pub(crate) fn was_short(&self, now_ms: i64) -> bool {
        self.short_ms.is_some_and(|short_ms| now_ms.saturating_sub(short_ms) < SHORT_FOR_MS)
    }

    /// Until when the node counts as short of memory; none if it never was short.
    pub(crate) fn short_until_ms(&self) -> Option<i64> {
        self.short_ms.map(|short_ms| short_ms.saturating_add(SHORT_FOR_MS))
    }

    /// Why a container may start here within the registered size only, if so.
    pub(crate) fn registered_only(
        &self,
        observed: Observed,
        now_ms: i64,
    ) -> Option<RegisteredOnly> {
        match (observed.is_so(), self.was_short(now_ms)) {
            (true, _) => Some(RegisteredOnly::Observed(observed)),
            (false, true) => Some(RegisteredOnly::ShortOfMemory),
            (false, false) => None,
        }
    }

    /// Why a container of this request has to wait for room within the registered size, if it has to.
    pub(crate) fn keeps_out(
        &self,
        observed: Observed,
        request: Request,
        now_ms: i64,
    ) -> Option<RegisteredOnly> {
        let why = self.registered_only(observed, now_ms)?;
        (!self.has_room_by_request(request)).then_some(why)
    }

    /// Number of containers of this request that fit into the registered size beside the booked ones.
    pub(crate) fn room_for(&self, request: Request) -> u64 {
        let free = self.registered.minus(self.booked);
        let by_memory = free.memory_bytes.checked_div(request.memory_bytes);
        let by_vcores = free.vcores.checked_div(request.vcores).map(u64::from);
        [by_memory, by_vcores].into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// Whether more is booked than registered.
    pub(crate) fn is_overbooked(&self) -> bool {
        !self.booked.fits_into(self.registered)
    }

    /// That the node was lowered matters while it holds more than its size.
    pub(crate) fn forget_lowered_if_down(&mut self) {
        if !self.is_overbooked() {
            self.lowered = None;
        }
    }

    /// Whether more is booked here than the registered size to which the node went back.
    pub fn has_come_down_overbooked(&self) -> bool {
        self.lowered.is_some() && self.is_overbooked()
    }
}
