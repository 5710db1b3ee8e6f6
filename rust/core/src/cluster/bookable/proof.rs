//! What a node's demand proves: how much CapacityScheduler may book there.

use std::collections::HashMap;

use super::booked::Booked;
use super::taken::Taken;
use crate::amounts::Amounts;
use crate::cluster::state::{Application, Applications, NodeEntry, Predicted, Request};
use crate::cluster::waiting::WaitingTable;
use crate::demand::Demand;
use crate::left_ahead::LeftAhead;
use crate::resources::{Resource, Resources};

/// CPU, network and disk count by their mean over this many slots from now on: five minutes.
const FLOWS_OVER_SLOTS: usize = 100;

/// The most kinds of waiting containers that are tried on each node.
const MOST_KINDS: usize = 16;

/// Waiting containers of one request and one prediction.
#[derive(Debug)]
pub(crate) struct WaitingKind {
    request: Request,
    predicted: Option<Predicted>,
    count: u32,
}

/// The kinds of which most containers wait, among the applications that count: those that are named in rounds, and
/// those that their queue does not let start.
pub(crate) fn waiting_kinds(
    waiting: &WaitingTable,
    applications: &Applications,
    counts: impl Fn(&Application) -> bool,
) -> Vec<WaitingKind> {
    let waits = waiting.lines_predicted().filter_map(|(line, predicted)| {
        let application = applications.get(&line.application)?;
        Some((application, line.request, predicted, line.executors))
    });
    let held = applications.values().filter_map(|application| {
        let ask = application.held?;
        Some((application, ask.request, application.demands.of(ask.kind), ask.count))
    });
    let mut places = HashMap::new();
    let mut kinds: Vec<WaitingKind> = Vec::new();
    for (application, request, predicted, count) in waits.chain(held) {
        if !counts(application) {
            continue;
        }
        let series = predicted.map(|it| (it.demand.slots().as_ptr(), it.margin.to_bits()));
        let place = *places.entry((request, series)).or_insert_with(|| {
            let predicted = predicted.cloned();
            kinds.push(WaitingKind { request, predicted, count: 0 });
            kinds.len() - 1
        });
        kinds[place].count = kinds[place].count.saturating_add(count);
    }
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    kinds.truncate(MOST_KINDS);
    kinds
}

/// What CapacityScheduler may book on a node whose plan is refreshed: what is booked, and the larger
/// of what the plan leaves free and what waits and fits there. At least the registered size.
///
/// While a queue waits for its guarantee, only `waiting` counts: the preemption monitor takes all that is bookable
/// for space that this queue can use, and preempts nothing meanwhile.
pub(crate) fn bookable(
    entry: &NodeEntry,
    waiting: &[WaitingKind],
    is_guarantee_waited_for: bool,
    virtual_cores_count: bool,
) -> Booked {
    let free = free(entry);
    let vcores = if virtual_cores_count { vcores_of(entry, free.cpu_cores) } else { 0.0 };
    let at_request = match !is_guarantee_waited_for && has_flows_left(entry, free) {
        true => Booked::new(free.memory_bytes, vcores),
        false => Booked::default(),
    };
    let room = waiting.iter().map(|kind| room_for(entry, kind, free)).fold(at_request, Booked::max);
    let registered = Booked::from(entry.registered.bookable(virtual_cores_count));
    registered.max(Booked::from(entry.booked).plus(room))
}

/// What the plan leaves: memory in every slot, the others in the mean.
fn free(entry: &NodeEntry) -> Resources {
    let left = entry.plan.left();
    let (least, sum) = (left.least(), left.sum(FLOWS_OVER_SLOTS));
    let mean = |resource| sum.in_units(resource) / FLOWS_OVER_SLOTS as f64;
    let free = Resources {
        cpu_cores: mean(Resource::Cpu),
        memory_bytes: least.in_units(Resource::Memory),
        network_bytes_per_s: mean(Resource::Network),
        disk_bytes_per_s: mean(Resource::Disk),
    };
    free.map(|amount| amount.max(0.0))
}

/// Whether a twentieth of CPU, network and disk is left, as far as they are known; with less nothing
/// more can be placed, however much memory is left.
fn has_flows_left(entry: &NodeEntry, free: Resources) -> bool {
    let capacity = entry.node.capacity;
    Resource::FLOWS.into_iter().all(|flow| free.get(flow) >= capacity.get(flow) / 20.0)
}

/// The requests of as many containers of a kind as wait and fit.
fn room_for(entry: &NodeEntry, kind: &WaitingKind, free: Resources) -> Booked {
    if !kind.request.fits_into(entry.registered) {
        return Booked::default();
    }
    let margin = kind.predicted.as_ref().map_or(0.0, |predicted| predicted.margin);
    let demand = demanded(entry, kind.predicted.as_ref(), kind.request, margin);
    let fitting = Resource::ALL
        .into_iter()
        .filter(|resource| demand.get(*resource) > 0.0)
        // A billionth more, against rounding.
        .map(|resource| (free.get(resource) / demand.get(resource) + 1e-9) as u32)
        .min();
    Booked::from(kind.request).times(fitting.unwrap_or(0).min(kind.count))
}

/// What one container takes of a node: memory by its peak, the others by their mean, with this
/// margin. The request without a prediction.
fn demanded(
    entry: &NodeEntry,
    predicted: Option<&Predicted>,
    request: Request,
    margin: f64,
) -> Resources {
    let amounts = match predicted {
        None => entry.request_resources(request),
        Some(Predicted { demand, .. }) => {
            let amounts = Resources { memory_bytes: demand.peak().memory_bytes, ..demand.mean() };
            amounts * (1.0 + margin)
        }
    };
    amounts.capped(entry.node.capacity)
}

/// What one container takes of a node, in YARN's units, at most its request, as in CapacityScheduler. Without the
/// margin: only the fit of a new container adds it, the plan of a running one does not.
pub(crate) fn demanded_of(
    entry: &NodeEntry,
    predicted: Option<&Predicted>,
    request: Request,
    virtual_cores_count: bool,
) -> Booked {
    let demanded = demanded(entry, predicted, request, 0.0);
    let vcores = if virtual_cores_count { vcores_of(entry, demanded.cpu_cores) } else { 0.0 };
    Booked::new(demanded.memory_bytes, vcores).min(Booked::from(request))
}

/// What a container is planned with on a node.
pub(crate) struct PlannedThere {
    pub(crate) demand: Demand,
    pub(crate) taken: Taken,
    /// The mean of the demand.
    pub(crate) mean: Amounts,
}

/// Predicted, or the request for life; within the node's size as it is known now.
pub(crate) fn planned_there(
    entry: &NodeEntry,
    predicted: Option<&Predicted>,
    request: Request,
    virtual_cores_count: bool,
) -> PlannedThere {
    let demand = entry.planned_demand(predicted, request);
    let demanded = demanded_of(entry, predicted, request, virtual_cores_count);
    PlannedThere {
        mean: Amounts::rounded_down(demand.mean()),
        taken: Taken { requested: request.into(), demanded },
        demand,
    }
}

/// Physical cores of a node in virtual cores: the inverse of [`NodeEntry::request_resources`].
fn vcores_of(entry: &NodeEntry, cores: f64) -> f64 {
    let physical = entry.node.capacity.cpu_cores;
    if physical > 0.0 { cores * f64::from(entry.registered.vcores) / physical } else { 0.0 }
}
