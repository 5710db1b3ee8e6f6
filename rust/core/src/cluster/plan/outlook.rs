//! When a container may start on a node, for owners that want to skip rounds in vain.

use super::planned_start::{LifeNeeds, Starts};
use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::cluster::state::{NodeEntry, NodeId, Predicted, Request};
use crate::fit::Peaks;
use crate::left::Left;
use crate::left_ahead::LeftAhead;
use crate::running::Running;
use crate::slot_of;
use crate::timeline::Timeline;

/// What a node's executors leave by their predictions alone. Until an executor starts or ends there, or
/// is corrected, no round finds more left: measured memory beyond a prediction and executors that outlive
/// theirs only take more.
#[derive(Debug)]
pub struct Outlook<'a> {
    entry: &'a NodeEntry,
    peaks: Peaks,
    left: Left,
}

/// What a container needs over its life, computed on the first node of each size that is asked.
#[derive(Debug, Default)]
pub struct StartNeeds(Option<LifeNeeds>);

impl<'a> Outlook<'a> {
    /// None where the policy does not fit by the plan, or there is no such node.
    pub fn new(cluster: &'a Cluster, node: NodeId, now_ms: i64) -> Option<Self> {
        let peaks = cluster.policy.by_plan()?.peaks;
        let entry = cluster.node(node)?;
        let predicted: Vec<_> = entry
            .node
            .running()
            .map(|executor| Running::new(executor.start_ms, executor.demand.clone()))
            .collect();
        let timeline = Timeline::of(slot_of(now_ms), &predicted);
        let capacity = Amounts::rounded_down(entry.node.capacity);
        Some(Self { entry, peaks, left: Left::of(capacity, timeline) })
    }

    /// The first slot from now, up to `until`, in which a container may fit; none if it never does.
    /// `needs` is that of the same prediction and request.
    pub fn first_start(
        &self,
        predicted: Option<&Predicted>,
        request: Request,
        needs: &mut StartNeeds,
        until: usize,
    ) -> Option<usize> {
        let capacity = self.left.capacity();
        let known = needs.0.take().filter(|needs| needs.capacity == capacity);
        let needs = needs.0.insert(known.unwrap_or_else(|| {
            LifeNeeds::new(&self.entry.need(predicted, request), self.peaks, capacity)
        }));
        let mut starts = Starts::new(needs, &self.left);
        let last = self.left.slots_ahead();
        (0..=last).find(|start| *start >= until || starts.fits_from(*start))
    }
}
