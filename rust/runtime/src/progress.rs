//! The progress of containers: by the stages that their applications tell, or else estimated from their use so far.

use std::collections::HashMap;
use std::sync::Arc;

use elastane_core::cluster::{ApplicationId, Container, NodeId};
use elastane_core::reprovision::Used;
use elastane_core::{Cluster, ContainerKind, Demand, Progress, Resources, SLOT_MS, StagesDone};
use elastane_predict::{Expectation, LateTracker};
use elastane_protocol::{Report, StageProgress};

use crate::amounts::used_in;
use crate::report::runs_on;

/// A container whose first sample began later than this outlived a ResourceManager, and its use before
/// is not known.
const FIRST_WITHIN_MS: i64 = 60_000;

/// A container that ends with less progress leaves work to the next one of its kind. Progress is not
/// known more exactly than this.
const UNFINISHED: f64 = 0.9;

/// Containers of one kind of an application.
type Siblings = (ApplicationId, ContainerKind);

/// The containers whose progress is estimated.
#[derive(Default)]
pub(crate) struct Trackers {
    by_container: HashMap<Arc<str>, TrackedContainer>,
    /// The progress of containers that ended unfinished and that no other has taken over from yet.
    unfinished: HashMap<Siblings, Vec<f64>>,
    /// What these expect to use, each with the demand that it is of.
    expectations: HashMap<Siblings, (Demand, Arc<Expectation>)>,
    /// Progress from another source than the use.
    told: HashMap<String, Progress>,
}

struct TrackedContainer {
    siblings: Siblings,
    start_ms: i64,
    /// None for a container whose beginning was not seen.
    follower: Option<LateTracker>,
    /// The latest that was told to the cluster.
    progress: f64,
    /// When the newest sample ended.
    to_ms: i64,
    /// The number of stages that had ended as it was told last, and the progress by them.
    by_stages: Option<(u32, f64)>,
}

impl Trackers {
    /// Tells the cluster the use and the progress of each container of this node that has a prediction.
    pub(crate) fn follow(
        &mut self,
        cluster: &mut Cluster,
        node: NodeId,
        report: &Report,
        now_ms: i64,
    ) {
        for samples in &report.containers {
            let id = samples.container.as_str();
            if !runs_on(cluster, node, id) {
                continue;
            }
            let mut is_new = false;
            let factors = cluster.corrected_by(id);
            for sample in &samples.samples {
                let sample = used_in(sample, now_ms);
                if self.observe(cluster, id, sample, factors) {
                    cluster.used(id, sample, now_ms);
                    is_new = true;
                }
            }
            if let (true, Some(tracked)) = (is_new, self.by_container.get_mut(id)) {
                let by_stages = samples
                    .stages
                    .and_then(|it| tracked.by_stages(it, by_stages(cluster, id, it, now_ms)?));
                let progress = self.told.remove(id).or(by_stages).or_else(|| tracked.estimated());
                if let Some(progress) = progress {
                    tracked.progress = progress.part();
                    cluster.progressed(id, progress, now_ms);
                }
            }
        }
    }

    pub(crate) fn told(&mut self, container: &str, progress: Progress) {
        self.told.insert(container.to_owned(), progress);
    }

    /// Takes in a sample; false where it has arrived before, or the container has no prediction.
    /// `factors` are the corrections of the container's demand.
    fn observe(&mut self, cluster: &Cluster, id: &str, sample: Used, factors: Resources) -> bool {
        let Some(tracked) = self.by_container.get_mut(id) else {
            let (Some((id, container)), Some(demand)) =
                (cluster.named_container(id), cluster.predicted_demand(id))
            else {
                return false;
            };
            let begins_ms = sample.from_ms.saturating_sub(container.start_ms);
            let follower = (begins_ms <= FIRST_WITHIN_MS).then(|| self.follower(container, demand));
            let mut tracked = TrackedContainer {
                siblings: (container.application, container.kind),
                start_ms: container.start_ms,
                follower,
                progress: 0.0,
                to_ms: sample.from_ms,
                by_stages: None,
            };
            tracked.take(sample, factors);
            self.by_container.insert(Arc::clone(id), tracked);
            return true;
        };
        // The age of a repeated sample varies by its time on the way.
        let middle_ms = i64::midpoint(sample.from_ms, sample.to_ms);
        if middle_ms <= tracked.to_ms {
            return false;
        }
        tracked.take(sample, factors);
        true
    }

    /// The follower of a container that starts. Where one of its kind ended unfinished, the new one may
    /// go on at the progress of those that still run.
    fn follower(&mut self, container: &Container, demand: &Demand) -> LateTracker {
        let siblings = (container.application, container.kind);
        let Some(ended_at) = self.unfinished.get_mut(&siblings).and_then(Vec::pop) else {
            let expectation = self.expectation(siblings, demand);
            return LateTracker::expecting(expectation, demand, 0.0);
        };
        let latest_ms = container.start_ms.saturating_sub(i64::from(SLOT_MS));
        let earlier = self.by_container.values().filter(|other| {
            other.siblings == siblings && other.start_ms < latest_ms && other.follower.is_some()
        });
        let (sum, count) =
            earlier.fold((0.0, 0), |(sum, count), other| (sum + other.progress, count + 1));
        let joined_at = if count > 0 { sum / f64::from(count) } else { ended_at };
        LateTracker::expecting(self.expectation(siblings, demand), demand, joined_at)
    }

    /// What these containers are expected to use. A prediction that came meanwhile replaces the former one.
    fn expectation(&mut self, siblings: Siblings, demand: &Demand) -> Arc<Expectation> {
        let known = self.expectations.get(&siblings);
        if let Some((_, expectation)) = known.filter(|(of, _)| of.shares_with(demand)) {
            return Arc::clone(expectation);
        }
        let expectation = Arc::new(Expectation::of_demand(demand));
        self.expectations.insert(siblings, (demand.clone(), Arc::clone(&expectation)));
        expectation
    }

    pub(crate) fn finished(&mut self, cluster: &Cluster, container: &str) {
        self.told.remove(container);
        if let Some(tracked) = self.by_container.remove(container) {
            note_unfinished(&mut self.unfinished, cluster, &tracked);
        }
    }

    /// No other container of the application will start.
    pub(crate) fn application_removed(&mut self, application: ApplicationId) {
        self.unfinished.retain(|(of, _), _| *of != application);
        self.expectations.retain(|(of, _), _| *of != application);
    }

    /// Forgets containers that disappeared with their node.
    pub(crate) fn retain_known(&mut self, cluster: &Cluster) {
        self.told.retain(|id, _| cluster.container(id).is_some());
        let unfinished = &mut self.unfinished;
        self.by_container.retain(|id, tracked| {
            let is_known = cluster.container(id).is_some();
            if !is_known {
                note_unfinished(unfinished, cluster, tracked);
            }
            is_known
        });
    }
}

/// The progress of the application's earlier runs at the time when as many stages had ended. None if those runs told no stages,
/// or fewer.
fn by_stages(cluster: &Cluster, id: &str, told: StageProgress, now_ms: i64) -> Option<Progress> {
    let container = cluster.container(id)?;
    let length_ms = cluster.predicted_demand(id)?.duration_ms()?;
    let application = cluster.application(container.application)?;
    let predicted = application.demands.of(container.kind)?;
    let since_ms = match told.stages_ended {
        0 => now_ms.saturating_sub(container.start_ms),
        _ => i64::from(told.since_ms),
    };
    let done = StagesDone {
        ended: told.stages_ended as usize,
        since_ms,
        part_ended: f64::from(told.part_ended),
        part_begun: f64::from(told.part_begun),
    };
    predicted.stage_ends.progress(done, length_ms as f64)
}

fn note_unfinished(
    unfinished: &mut HashMap<Siblings, Vec<f64>>,
    cluster: &Cluster,
    tracked: &TrackedContainer,
) {
    let (application, _) = tracked.siblings;
    let goes_on = cluster.application(application).is_some();
    if goes_on && tracked.follower.is_some() && tracked.progress < UNFINISHED {
        let siblings = unfinished.entry(tracked.siblings).or_default();
        siblings.push(tracked.progress);
    }
}

impl TrackedContainer {
    /// By the use. What stages have shown to be done stays done while nothing is told.
    fn estimated(&self) -> Option<Progress> {
        let done = self.by_stages.map_or(0.0, |(_, done)| done);
        Progress::new(self.follower.as_ref()?.progress().max(done)).ok()
    }

    /// Another stage that begins beside those that run lowers the part of their tasks that is done. That undoes nothing.
    fn by_stages(&mut self, told: StageProgress, progress: Progress) -> Option<Progress> {
        let done = match self.by_stages {
            Some((stages, done)) if stages == told.stages_ended => done,
            _ => 0.0,
        };
        let progress = Progress::new(progress.part().max(done)).ok()?;
        self.by_stages = Some((told.stages_ended, progress.part()));
        Some(progress)
    }

    /// A missing sample counts as the one after it. Use beyond the prediction, by the corrected factor,
    /// is no progress.
    fn take(&mut self, sample: Used, factors: Resources) {
        let usage = sample.usage.zip(factors, |used, factor| used / factor);
        let length_ms = sample.to_ms.saturating_sub(self.to_ms);
        self.to_ms = sample.to_ms;
        if let (Some(follower), Ok(length_ms)) = (&mut self.follower, u32::try_from(length_ms)) {
            follower.observe(usage, length_ms);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn tracked() -> TrackedContainer {
        TrackedContainer {
            siblings: (ApplicationId(1), ContainerKind::DEFAULT_EXECUTOR),
            start_ms: 0,
            follower: Some(LateTracker::new(
                &Demand::series(3_000, &[Resources::ONE]).unwrap(),
                0.0,
            )),
            progress: 0.0,
            to_ms: 0,
            by_stages: None,
        }
    }

    #[test]
    fn the_containers_of_an_application_share_one_expectation_of_each_demand() {
        let siblings = (ApplicationId(1), ContainerKind::DEFAULT_EXECUTOR);
        let demand = Demand::series(3_000, &[Resources::ONE]).unwrap();
        let mut trackers = Trackers::default();
        let first = trackers.expectation(siblings, &demand);
        assert!(Arc::ptr_eq(&first, &trackers.expectation(siblings, &demand.clone())));
        let predicted_anew = Demand::series(3_000, &[Resources::ONE]).unwrap();
        assert!(!Arc::ptr_eq(&first, &trackers.expectation(siblings, &predicted_anew)));
        trackers.application_removed(siblings.0);
        assert!(trackers.expectations.is_empty());
    }

    #[test]
    fn another_stage_that_begins_undoes_nothing_and_a_silence_neither() {
        let mut tracked = tracked();
        let mut told = |stages_ended, part| {
            let told =
                StageProgress { stages_ended, since_ms: 0, part_ended: 0.0, part_begun: 1.0 };
            let progress = tracked.by_stages(told, Progress::new(part).unwrap());
            progress.unwrap().part()
        };
        assert_eq!(told(2, 0.5), 0.5);
        assert_eq!(told(2, 0.25), 0.5);
        // What had ended earlier in runs before may end later in this one.
        assert_eq!(told(3, 0.375), 0.375);
        assert!(tracked.estimated().unwrap().part() >= 0.375);
    }
}
