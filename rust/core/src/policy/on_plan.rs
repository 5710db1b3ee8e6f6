//! Policies by the plan, evaluated for one executor on one node. A round evaluates [`ByPlan`] for
//! all rows at once.

use super::bounded::bounded;
use super::{Candidate, Detail, Place, Policy};
use crate::SLOT_MS;
use crate::amounts::Amounts;
use crate::by_plan::{ByPlan, Explained, Weighed};
use crate::demand::Demand;
use crate::fit::Excess;
use crate::left::Left;
use crate::need::Need;
use crate::resources::{Resource, Resources};
use crate::running::Running;
use crate::timeline::Timeline;

/// A policy whose fit and score follow a [`ByPlan`].
pub trait PlanPolicy: Send + Sync {
    /// See [`Policy::name`].
    const NAME: &'static str;

    /// The fit and the score.
    fn plan(&self) -> ByPlan;
}

/// A plan without a name of its own.
impl PlanPolicy for ByPlan {
    const NAME: &'static str = "by-plan";

    fn plan(&self) -> ByPlan {
        *self
    }
}

impl<P: PlanPolicy> Policy for P {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        let plan = OnPlan::new(place, candidate.needed);
        let fit = plan.need().fit(&plan.left, self.plan().peaks);
        fit.map_err(|excess| Excess {
            from_ms: plan.in_ms(excess.from_ms / i64::from(SLOT_MS)),
            ..excess
        })
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        let plan = OnPlan::new(place, candidate.demand);
        bounded(plan.explain(self.plan(), candidate).score)
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(self.plan())
    }

    fn detail(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Detail {
        let plan = OnPlan::new(place, candidate.demand);
        let explained = plan.explain(self.plan(), candidate);
        let detail = Detail::default();
        let (name, detail) = match explained.weighed {
            Weighed::Horizon(slots) => {
                ("remaining_share", detail.time_ms("horizon_ms", plan.in_ms(slots as i64)))
            }
            Weighed::Waiting { nodes, life_s } => {
                ("mean_share", detail.number("nodes", nodes).number("life_s", life_s))
            }
        };
        let shares = Resources::from_array(explained.shares);
        detail.resources(name, &Resource::ALL, place.node.capacity, shares)
    }
}

/// A node and an executor on a common grid of slots: everything starts, changes and ends at a slot's edge.
struct OnPlan {
    slot_ms: u32,
    left: Left,
    demand: Demand,
    cap: Resources,
}

impl OnPlan {
    fn new(place: &Place<'_>, demand: &Demand) -> Self {
        let slot_ms = common_slot_ms(place, demand);
        let in_slots = |executor: &Running| Running {
            start_ms: (elapsed_ms(place, executor) / i64::from(slot_ms))
                .saturating_mul(-i64::from(SLOT_MS)),
            demand: executor.demand.in_slots_of(slot_ms),
            measured_memory_bytes: executor.measured_memory_bytes,
        };
        let running: Vec<_> = place.node.running().map(in_slots).collect();
        let capacity = place.node.capacity;
        let timeline = Timeline::of(0, &running);
        Self {
            slot_ms,
            left: Left::of(Amounts::rounded_down(capacity), timeline),
            demand: demand.in_slots_of(slot_ms),
            // Nothing is needed of unknown resources.
            cap: capacity.map(|known| if known > 0.0 { f64::MAX } else { 0.0 }),
        }
    }

    fn need(&self) -> Need<'_> {
        Need::predicted(&self.demand, 0.0, self.cap)
    }

    fn explain(&self, by: ByPlan, candidate: &Candidate<'_>) -> Explained {
        let slot_s = f64::from(self.slot_ms) / 1e3;
        let executors = candidate.waiting.executors;
        by.explain(&self.left, &self.need(), executors, slot_s)
    }

    fn in_ms(&self, slots: i64) -> i64 {
        slots.saturating_mul(i64::from(self.slot_ms))
    }
}

/// Maximum number of pieces into which a slot of a demand is cut.
const MOST_PIECES: u32 = 16;

/// The longest common slot. If that cuts a slot into too many pieces, the slot is [`SLOT_MS`] and
/// has the largest value that it overlaps.
fn common_slot_ms(place: &Place<'_>, demand: &Demand) -> u32 {
    let executors = place.node.running();
    let elapsed = executors.map(|executor| (&executor.demand, elapsed_ms(place, executor)));
    let ending: Vec<_> = elapsed
        .chain([(demand, 0)])
        .filter_map(|(demand, elapsed_ms)| {
            let life_ms = demand.duration_ms()?;
            let rest_ms = elapsed_ms % i64::from(demand.slot_ms());
            let rest_ms = if elapsed_ms < life_ms { rest_ms } else { 0 };
            Some((demand.slot_ms(), u32::try_from(rest_ms).unwrap_or(0)))
        })
        .collect();
    let slot_ms = ending.iter().fold(0, |common, (slot_ms, rest_ms)| {
        greatest_common_divisor(greatest_common_divisor(common, *slot_ms), *rest_ms)
    });
    let too_short = |(own_ms, _): &(u32, u32)| own_ms / slot_ms > MOST_PIECES;
    if slot_ms == 0 || ending.iter().any(too_short) { SLOT_MS } else { slot_ms }
}

fn elapsed_ms(place: &Place<'_>, executor: &Running) -> i64 {
    place.now_ms.saturating_sub(executor.start_ms).max(0)
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
