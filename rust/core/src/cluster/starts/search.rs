//! The search for the starts: each waiting container on the node on which it starts first.

use std::sync::Arc;

use super::{Claim, StartPlan};
use crate::amounts::Amounts;
use crate::cluster::plan::{LifeNeeds, Starts};
use crate::cluster::ranking::Contender;
use crate::cluster::state::{NodeId, Predicted, Request};
use crate::fit::Peaks;
use crate::left_ahead::LeftAhead;
use crate::left_sums::LeftSums;
use crate::need::Need;
use crate::resources::Resources;
use crate::slot_start_ms;

/// Latest planned start, in slots of 3 s: one hour.
pub(super) const PLANNED_AHEAD_SLOTS: usize = 1_200;

/// Number of containers of one application that are planned.
const CONTAINERS_PLANNED: u32 = 64;

/// An executor past its predicted end is expected to run on for 1 ÷ 4 of its overdue time. Otherwise its node would
/// always look free in the next slot. On the scale model, mean completion where CPU is short grows by 1.4 % with a
/// factor of 1, and by 0.3 % with 1 ÷ 4.
pub(crate) const LATE_PART: usize = 4;

/// Number of start slots that one search checks, in equal parts by all applications that are left.
const SLOTS_CHECKED: usize = 200_000;

/// A copy of what is needed to plan the starts.
#[derive(Debug)]
pub struct StartSearch {
    pub(super) now_ms: i64,
    /// The slot of now.
    pub(super) slot: i64,
    pub(super) peaks: Peaks,
    pub(super) nodes: Vec<NodeToPlan>,
    /// In the order in which they are planned.
    pub(super) waiting: Vec<ToStart>,
}

/// A node, and what is left of it beside what runs and what was planned.
#[derive(Debug)]
pub(super) struct NodeToPlan {
    pub(super) node: NodeId,
    /// What CapacityScheduler may book there now, less what is planned for now.
    pub(super) free: Request,
    pub(super) capacity: Resources,
    pub(super) left: LeftSums,
    /// What each executor past its prediction has in use, and for how many slots it has been past it.
    pub(super) overdue: Vec<(Amounts, usize)>,
}

impl NodeToPlan {
    /// Plans executors past their prediction for some slots more. `left` already counts them in the current slot.
    fn let_overdue_go_on(&mut self) {
        for (in_use, slots) in std::mem::take(&mut self.overdue) {
            let slots = (slots / LATE_PART).min(PLANNED_AHEAD_SLOTS);
            self.left.take(1, &vec![in_use; slots], PLANNED_AHEAD_SLOTS);
        }
    }
}

/// An application that waits.
#[derive(Debug)]
pub(super) struct ToStart {
    pub(super) contender: Contender,
    pub(super) predicted: Predicted,
    pub(super) request: Request,
    /// Number of containers that it waits for.
    pub(super) containers: u32,
    /// For each node, whether its containers may go there.
    pub(super) may_go_to: Vec<bool>,
    /// Whether those behind it may not delay its start.
    pub(super) is_first: bool,
}

impl StartSearch {
    /// Plans the starts.
    pub fn run(mut self) -> StartPlan {
        self.nodes.iter_mut().for_each(NodeToPlan::let_overdue_go_on);
        let mut plan = StartPlan::as_of(self.now_ms);
        let mut slots_left = SLOTS_CHECKED;
        let waiting = std::mem::take(&mut self.waiting);
        let mut applications_left = waiting.len();
        for to_start in waiting {
            let mut share = slots_left / applications_left;
            (applications_left, slots_left) = (applications_left - 1, slots_left - share);
            self.plan_one(&to_start, &mut share, &mut plan);
            slots_left += share;
        }
        plan
    }

    /// Plans the containers of one application, and leaves what it takes out of the nodes. `slots_left` is the
    /// number of start slots that may be checked.
    fn plan_one(&mut self, to_start: &ToStart, slots_left: &mut usize, plan: &mut StartPlan) {
        let application = to_start.contender.application();
        let mut starts = StartsOfOne::new(to_start, &self.nodes, self.peaks);
        let mut is_start_known = true;
        for _ in 0..to_start.containers.min(CONTAINERS_PLANNED) {
            let Some((index, start)) = starts.first(&self.nodes, slots_left) else {
                break;
            };
            let needs = &starts.needs[index];
            let NodeToPlan { node, left, free, .. } = &mut self.nodes[index];
            left.take(start, &needs.in_slots, PLANNED_AHEAD_SLOTS);
            if start == 0 {
                // By demand it starts now. When CapacityScheduler has free space for it is not known, nor when
                // those after it start.
                is_start_known &= to_start.request.fits_into(*free);
                if is_start_known {
                    *free = free.minus(to_start.request);
                }
            }
            let start = self.slot.saturating_add(i64::try_from(start).unwrap_or(i64::MAX));
            if is_start_known {
                plan.add_start(application, *node, slot_start_ms(start).max(self.now_ms));
            }
            if to_start.is_first && start > self.slot {
                let (owner, needs) = (to_start.contender, Arc::clone(needs));
                plan.claim(*node, Claim { owner, start, needs });
            }
        }
    }
}

/// The first starts of one application's containers. What is left of a node only falls meanwhile, so that no
/// start becomes earlier.
struct StartsOfOne {
    /// By node; nodes of one size share theirs.
    needs: Vec<Arc<LifeNeeds>>,
    /// By node, no container starts there in a slot before this one.
    not_before: Vec<usize>,
}

impl StartsOfOne {
    fn new(to_start: &ToStart, nodes: &[NodeToPlan], peaks: Peaks) -> Self {
        let Predicted { demand, margin, .. } = &to_start.predicted;
        let mut needs: Vec<Arc<LifeNeeds>> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let same_size = needs.iter().find(|it| it.capacity == node.left.capacity());
            let of_node = same_size.cloned().unwrap_or_else(|| {
                let need = Need::predicted(demand, *margin, node.capacity);
                Arc::new(LifeNeeds::new(&need, peaks, node.left.capacity()))
            });
            needs.push(of_node);
        }
        let not_before = to_start.may_go_to.iter().map(|may| if *may { 0 } else { usize::MAX });
        Self { needs, not_before: not_before.collect() }
    }

    /// The node and the slot in which the next container starts first; of equal slots the first node.
    fn first(&mut self, nodes: &[NodeToPlan], slots_left: &mut usize) -> Option<(usize, usize)> {
        let mut first: Option<(usize, usize)> = None;
        for (index, node) in nodes.iter().enumerate() {
            let last = node.left.slots_ahead().min(PLANNED_AHEAD_SLOTS);
            let before = first.map_or(last.saturating_add(1), |(_, start)| start);
            let mut starts = Starts::new(&self.needs[index], &node.left);
            let from = self.not_before[index];
            let mut slots = (from..before.min(last.saturating_add(1))).take(*slots_left);
            let found = slots.find(|slot| {
                *slots_left -= 1;
                starts.fits_from(*slot)
            });
            self.not_before[index] = match found {
                Some(start) => start,
                None if before > last => usize::MAX,
                None => from.max(before),
            };
            if let Some(start) = found {
                first = Some((index, start));
            }
        }
        first
    }
}
