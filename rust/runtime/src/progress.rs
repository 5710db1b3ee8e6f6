//! How far containers are, from what they used so far.

use std::collections::HashMap;

use elastane_core::cluster::{ApplicationId, Container};
use elastane_core::reprovision::Used;
use elastane_core::{Cluster, ContainerKind, Demand, Progress, Resources, SLOT_MS};
use elastane_predict::{LateTracker, Tracker};
use elastane_protocol::Report;

use crate::amounts::used_in;

/// The first sample of a container that began longer after its start is not the first: it outlived
/// a ResourceManager, and what it used before is not known.
const FIRST_WITHIN_MS: i64 = 60_000;

/// A container that ends with less than this done leaves work to the next one of its kind. Above, it
/// is as far as progress is known.
const UNFINISHED: f64 = 0.9;

/// Containers of one kind of an application.
type Siblings = (ApplicationId, ContainerKind);

/// The containers whose progress is estimated.
#[derive(Default)]
pub(crate) struct Trackers {
    by_container: HashMap<String, Tracked>,
    /// How far those were that ended unfinished and that no other has taken over from yet.
    unfinished: HashMap<Siblings, Vec<f64>>,
}

struct Tracked {
    siblings: Siblings,
    start_ms: i64,
    /// None where the beginning was not seen.
    follower: Option<Follower>,
    /// As it was said last.
    progress: f64,
    /// When the newest sample ended.
    to_ms: i64,
}

impl Trackers {
    /// Tells the cluster what a report says of each container that a prediction is known of: what it
    /// used, and how far it is by that.
    pub(crate) fn follow(&mut self, cluster: &mut Cluster, report: &Report, now_ms: i64) {
        for samples in &report.containers {
            let id = samples.container.as_str();
            let mut is_new = false;
            let factors = cluster.corrected_by(id);
            for sample in &samples.samples {
                let sample = used_in(sample, now_ms);
                if self.observe(cluster, id, sample, factors) {
                    cluster.used(id, sample, now_ms);
                    is_new = true;
                }
            }
            if let (true, Some(tracked)) = (is_new, self.by_container.get_mut(id))
                && let Some(follower) = &tracked.follower
                && let Ok(progress) = Progress::new(follower.progress())
            {
                tracked.progress = progress.part();
                cluster.progressed(id, progress, now_ms);
            }
        }
    }

    /// Takes in a sample; false where it has arrived before, or nothing is predicted. `factors` is what
    /// the container's demand was corrected by.
    fn observe(&mut self, cluster: &Cluster, id: &str, sample: Used, factors: Resources) -> bool {
        let Some(tracked) = self.by_container.get_mut(id) else {
            let (Some(container), Some(demand)) =
                (cluster.container(id), cluster.predicted_demand(id))
            else {
                return false;
            };
            let begins_ms = sample.from_ms.saturating_sub(container.start_ms);
            let follower = (begins_ms <= FIRST_WITHIN_MS).then(|| self.follower(container, demand));
            let mut tracked = Tracked {
                siblings: (container.application, container.kind),
                start_ms: container.start_ms,
                follower,
                progress: 0.0,
                to_ms: sample.from_ms,
            };
            tracked.take(sample, factors);
            self.by_container.insert(id.to_owned(), tracked);
            return true;
        };
        // Ages of a sample that is sent again differ by what is on the way.
        let middle_ms = i64::midpoint(sample.from_ms, sample.to_ms);
        if middle_ms <= tracked.to_ms {
            return false;
        }
        tracked.take(sample, factors);
        true
    }

    /// Of a container that starts: where one of its kind ended unfinished, it may go on where those
    /// are that still run.
    fn follower(&mut self, container: &Container, demand: &Demand) -> Follower {
        let whole = || Follower::Whole(Box::new(Tracker::of_demand(demand)));
        let siblings = (container.application, container.kind);
        let Some(ended_at) = self.unfinished.get_mut(&siblings).and_then(Vec::pop) else {
            return whole();
        };
        let latest_ms = container.start_ms.saturating_sub(i64::from(SLOT_MS));
        let earlier = self.by_container.values().filter(|other| {
            other.siblings == siblings && other.start_ms < latest_ms && other.follower.is_some()
        });
        let (sum, count) = earlier.fold((0.0, 0), |(sum, count), other| {
            (sum + other.progress, count + 1)
        });
        let joined_at = if count > 0 {
            sum / f64::from(count)
        } else {
            ended_at
        };
        LateTracker::new(demand, joined_at)
            .map_or_else(|_| whole(), |tracker| Follower::Late(Box::new(tracker)))
    }

    pub(crate) fn finished(&mut self, cluster: &Cluster, container: &str) {
        if let Some(tracked) = self.by_container.remove(container) {
            note_unfinished(&mut self.unfinished, cluster, &tracked);
        }
    }

    /// No other container of it will start.
    pub(crate) fn application_removed(&mut self, application: ApplicationId) {
        self.unfinished.retain(|(of, _), _| *of != application);
    }

    /// Forgets those that are gone without having finished, as with their node.
    pub(crate) fn retain_known(&mut self, cluster: &Cluster) {
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

fn note_unfinished(
    unfinished: &mut HashMap<Siblings, Vec<f64>>,
    cluster: &Cluster,
    tracked: &Tracked,
) {
    let (application, _) = tracked.siblings;
    let goes_on = cluster.application(application).is_some();
    if goes_on && tracked.follower.is_some() && tracked.progress < UNFINISHED {
        let siblings = unfinished.entry(tracked.siblings).or_default();
        siblings.push(tracked.progress);
    }
}

/// Says how far a container is.
enum Follower {
    Whole(Box<Tracker>),
    /// It may have taken over from one that ended unfinished.
    Late(Box<LateTracker>),
}

impl Follower {
    fn progress(&self) -> f64 {
        match self {
            Follower::Whole(tracker) => tracker.progress(),
            Follower::Late(tracker) => tracker.progress(),
        }
    }
}

impl Tracked {
    /// Where a sample is missing, as much is taken to have been used as in the one after it. One that
    /// wants more at a time than was predicted has not done more for that.
    fn take(&mut self, sample: Used, factors: Resources) {
        let usage = sample.usage.zip(factors, |used, factor| used / factor);
        let length_ms = sample.to_ms.saturating_sub(self.to_ms);
        self.to_ms = sample.to_ms;
        let Ok(length_ms) = u32::try_from(length_ms) else {
            return;
        };
        match &mut self.follower {
            Some(Follower::Whole(tracker)) => tracker.observe(usage, length_ms),
            Some(Follower::Late(tracker)) => tracker.observe(usage, length_ms),
            None => {}
        }
    }
}
