//! Ursa: the executor that gives most work to idle resources.

mod memory;
mod order;
mod work;

pub use self::order::JobOrder;
pub use self::work::{remaining_of, share_of_work, work};

use super::bounded::bounded;
use super::{Candidate, Detail, Place, Policy, Rates};
use crate::demand::Demand;
use crate::fit::Excess;
use crate::node::Node;
use crate::resources::{Resource, Resources};

/// Ursa (Jin et al., EuroSys 2020), section 4.2.2: on worker w, with APT_r(w) the work assigned to
/// it over its measured rate, for r CPU, network and disk
///
/// ```text
/// D_r   = max(0, (EPT − APT_r) ÷ EPT)             APT_cpu = 0 while a core is idle
/// Inc_r = min(D_r, load_r ÷ rate_r ÷ EPT)         load_r: the work of the executor
/// F     = Σ over r of D_r · Inc_r                 never where D_r = 0 and load_r > 0
/// score = F + bonus + W · rank                    the highest wins
/// ```
///
/// A stage that can be placed whole gets the bonus; the rank is that of [`JobOrder`].
///
/// Departures: a stage is the executors that an application waits for. A task is one of them, and its load is
/// its demand over its life; without an end the load is infinite, and Inc is D. Executors run for minutes and
/// monotasks for milliseconds, so EPT is a minute. Memory is no part of F: it has to fit by demand in every
/// slot, which is more exact than Ursa's estimate, `min(share · M, m2i · input)`. Unmeasured rates and assigned
/// work are derived ([`Rates::derived`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ursa {
    /// Which application goes first.
    pub order: JobOrder,
}

/// EPT where nobody measured rates, in seconds.
const EXPECTED_PROCESSING_S: f64 = 60.0;

/// Exceeds F, which is at most 1 for each resource.
const STAGE_BONUS: f64 = 100.0;

/// An idle core, within the rounding of sums.
const IDLE_CORES: f64 = 1.0 - 1e-9;

impl Ursa {
    fn bonus(candidate: &Candidate<'_>) -> f64 {
        if candidate.waiting.whole { STAGE_BONUS } else { 0.0 }
    }
}

fn rates(place: &Place<'_>) -> Rates {
    let derived = || Rates::derived(place.node, place.now_ms, EXPECTED_PROCESSING_S);
    place.rates.copied().unwrap_or_else(derived)
}

/// The gain of an executor on a node; 0 for unknown resources.
struct Gain {
    /// D.
    idle: Resources,
    /// Inc.
    increase: Resources,
    f: f64,
}

/// D of a resource; none for memory and unknown resources.
fn idle(place: &Place<'_>, rates: &Rates, resource: Resource) -> Option<f64> {
    let is_known = place.node.capacity.get(resource) > 0.0;
    if !is_known || !Resource::FLOWS.contains(&resource) {
        return None;
    }
    let core_is_idle = place.available.now().cpu_cores >= IDLE_CORES;
    let assigned_s = if resource == Resource::Cpu && core_is_idle {
        0.0
    } else {
        seconds(rates.assigned.get(resource), rates.per_s.get(resource))
    };
    let expected_s = rates.expected_processing_s;
    Some(share((expected_s - assigned_s) / expected_s))
}

impl Gain {
    fn new(place: &Place<'_>, demand: &Demand) -> Self {
        let (rates, work) = (&rates(place), work(demand));
        let expected_s = rates.expected_processing_s;
        let (mut idle, mut increase) = ([0.0; 4], [0.0; 4]);
        for (at, resource) in Resource::ALL.into_iter().enumerate() {
            let Some(share) = self::idle(place, rates, resource) else {
                continue;
            };
            idle[at] = share;
            let load_s = seconds(work.get(resource), rates.per_s.get(resource));
            increase[at] = (load_s / expected_s).min(share);
        }
        Self {
            idle: Resources::from_array(idle),
            increase: Resources::from_array(increase),
            f: idle.iter().zip(increase).map(|(idle, increase)| idle * increase).sum(),
        }
    }
}

/// Clamped to 0 to 1; 0 for NaN, which measured rates may cause.
fn share(part: f64) -> f64 {
    if part.is_nan() { 0.0 } else { part.clamp(0.0, 1.0) }
}

/// The time that `work` takes.
fn seconds(work: f64, per_s: f64) -> f64 {
    if work <= 0.0 {
        0.0
    } else if per_s > 0.0 {
        work / per_s
    } else {
        f64::INFINITY
    }
}

impl Policy for Ursa {
    fn name(&self) -> &'static str {
        match self.order {
            JobOrder::EarliestFirst => "ursa",
            JobOrder::SmallestRemainingFirst => "ursa-srjf",
        }
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        memory::fits(place.available, candidate.needed)?;
        let rates = rates(place);
        let overloaded = Resource::FLOWS.into_iter().find(|resource| {
            // A peak above 0 means work, without computing the sum.
            candidate.needed.peak().get(*resource) > 0.0
                && idle(place, &rates, *resource).is_some_and(|idle| idle <= 0.0)
        });
        match overloaded {
            Some(resource) => Err(Excess {
                resource,
                amount: work::mean(candidate.needed).get(resource),
                from_ms: 0,
            }),
            None => Ok(()),
        }
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let gain = Gain::new(place, candidate.demand);
        let rank = self.order.rank(&candidate.waiting, place.now_ms);
        bounded(-(gain.f + Self::bonus(candidate) + order::WEIGHT * rank))
    }

    fn highest_wins(&self) -> bool {
        true
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        let capacity = place.node.capacity;
        let gain = Gain::new(place, candidate.demand);
        Detail::default()
            .resources("D", &Resource::FLOWS, capacity, gain.idle)
            .resources("Inc", &Resource::FLOWS, capacity, gain.increase)
            .number("F", gain.f)
            .number("bonus", Self::bonus(candidate))
            .number("rank", self.order.rank(&candidate.waiting, place.now_ms))
    }

    fn needs_gangs(&self) -> bool {
        true
    }

    fn needs_remaining_shares(&self) -> bool {
        self.order == JobOrder::SmallestRemainingFirst
    }

    fn rates(&self, node: &Node, now_ms: i64) -> Option<Rates> {
        Some(Rates::derived(node, now_ms, EXPECTED_PROCESSING_S))
    }
}
