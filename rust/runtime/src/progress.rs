//! How far containers are, from what they used so far.

use std::collections::HashMap;

use elastane_core::reprovision::Used;
use elastane_core::{Cluster, Progress};
use elastane_predict::Tracker;
use elastane_protocol::Report;

use crate::amounts::used;

/// The first sample of a container that began longer after its start is not the first: it outlived
/// a ResourceManager, and what it used before is not known.
const FIRST_WITHIN_MS: i64 = 60_000;

/// The containers whose progress is estimated.
#[derive(Default)]
pub(crate) struct Trackers {
    by_container: HashMap<String, Tracked>,
}

struct Tracked {
    /// None where the beginning was not seen.
    tracker: Option<Tracker>,
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
            for sample in &samples.samples {
                let to_ms = now_ms - i64::from(sample.age_ms);
                let sample = Used {
                    usage: used(&sample.usage),
                    from_ms: to_ms - i64::from(sample.length_ms),
                    to_ms,
                };
                if self.observe(cluster, id, sample) {
                    cluster.used(id, sample, now_ms);
                    is_new = true;
                }
            }
            let tracked = self.by_container.get(id);
            let tracker = tracked.and_then(|tracked| tracked.tracker.as_ref());
            if let (true, Some(tracker)) = (is_new, tracker)
                && let Ok(progress) = Progress::new(tracker.progress())
            {
                cluster.progressed(id, progress, now_ms);
            }
        }
    }

    /// Takes in a sample; false where it has arrived before, or nothing is predicted.
    fn observe(&mut self, cluster: &Cluster, id: &str, sample: Used) -> bool {
        let Some(tracked) = self.by_container.get_mut(id) else {
            let (Some(container), Some(demand)) =
                (cluster.container(id), cluster.predicted_demand(id))
            else {
                return false;
            };
            let begins_ms = sample.from_ms.saturating_sub(container.start_ms);
            let mut tracked = Tracked {
                tracker: (begins_ms <= FIRST_WITHIN_MS).then(|| Tracker::of_demand(demand)),
                to_ms: sample.from_ms,
            };
            tracked.take(sample);
            self.by_container.insert(id.to_owned(), tracked);
            return true;
        };
        // Ages of a sample that is sent again differ by what is on the way.
        let middle_ms = i64::midpoint(sample.from_ms, sample.to_ms);
        if middle_ms <= tracked.to_ms {
            return false;
        }
        tracked.take(sample);
        true
    }

    pub(crate) fn finished(&mut self, container: &str) {
        self.by_container.remove(container);
    }

    /// Forgets those that are gone without having finished, as with their node.
    pub(crate) fn retain_known(&mut self, cluster: &Cluster) {
        self.by_container
            .retain(|id, _| cluster.container(id).is_some());
    }
}

impl Tracked {
    /// Where a sample is missing, as much is taken to have been used as in the one after it.
    fn take(&mut self, sample: Used) {
        let length_ms = sample.to_ms.saturating_sub(self.to_ms);
        self.to_ms = sample.to_ms;
        if let (Some(tracker), Ok(length_ms)) = (&mut self.tracker, u32::try_from(length_ms)) {
            tracker.observe(sample.usage, length_ms);
        }
    }
}
