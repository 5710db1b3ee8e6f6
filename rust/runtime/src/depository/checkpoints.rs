//! Changes of running applications that are not saved yet.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use elastane_runs::RunEvent;
use elastane_store::{Depository, StoreError};

use super::Shared;
use super::outage::Outage;
use crate::counters::count;

/// Changes that wait while the depository cannot be written: those of 1,000 containers over ten minutes. They take 18 MB, as
/// an event has 88 bytes and shares its ids.
const MOST_WAITING: usize = 200_000;

pub(super) struct Checkpoints {
    waiting: Vec<RunEvent>,
    /// The whole state is among the changes that wait.
    whole_waits: bool,
    outage: Outage,
    has_dropped: bool,
    /// The whole state was asked for and is not saved yet.
    lack_whole: bool,
    shared: Arc<Shared>,
}

impl Checkpoints {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            waiting: Vec::new(),
            whole_waits: false,
            outage: Outage::new("records of running applications"),
            has_dropped: false,
            lack_whole: false,
            shared,
        }
    }

    pub(super) fn lack_whole(&self) -> bool {
        self.lack_whole
    }

    /// Adds changes, or the whole state, which replaces every earlier checkpoint.
    pub(super) fn add(&mut self, events: Vec<RunEvent>, is_whole: bool) {
        if is_whole {
            let is_contained =
                |event: &RunEvent| matches!(event, RunEvent::Sampled { .. } | RunEvent::Whole(_));
            self.waiting.retain(|event| !is_contained(event));
            self.has_dropped = false;
            self.whole_waits = true;
        }
        if self.waiting.is_empty() {
            self.waiting = events;
        } else {
            self.waiting.extend(events);
        }
    }

    /// Saves the changes that wait.
    pub(super) fn save(
        &mut self,
        depository: &mut Depository,
        now_ms: i64,
    ) -> Result<(), StoreError> {
        if let Err(error) = depository.checkpoint(&self.waiting, now_ms) {
            self.drop_samples(MOST_WAITING);
            return Err(error);
        }
        // Frees the list, which takes megabytes with 100,000 containers. The next changes come in a list of their own.
        self.waiting = Vec::new();
        if std::mem::take(&mut self.whole_waits) {
            self.lack_whole = false;
        }
        if std::mem::take(&mut self.has_dropped) {
            self.ask_for_whole();
        }
        depository.shorten_open_runs()
    }

    /// Changes alone mean nothing to a file that lacks the beginning of the run.
    pub(super) fn ask_for_whole(&mut self) {
        self.lack_whole = true;
        self.shared.wants_whole.store(true, Relaxed);
    }

    /// Drops all samples once too many changes wait: the whole state contains them later. Beginnings
    /// and ends stay, they are few.
    fn drop_samples(&mut self, most_waiting: usize) {
        let before = self.waiting.len();
        if before <= most_waiting && !self.has_dropped {
            return;
        }
        self.waiting.retain(|event| !matches!(event, RunEvent::Sampled { .. }));
        let dropped = before - self.waiting.len();
        let lost = &self.shared.counters.samples_lost;
        lost.fetch_add(dropped as u64, Relaxed);
        if dropped > 0 && !self.has_dropped {
            self.has_dropped = true;
            log::error!(
                "more than {most_waiting} samples of running applications wait to be saved and are \
                 dropped: what runs is saved as a whole once that works again"
            );
        }
    }

    pub(super) fn tell(&mut self, saved: &Result<(), StoreError>) {
        if saved.is_err() {
            count(&self.shared.counters.checkpoints_failed);
        }
        // Without the whole state the file still lacks records.
        if saved.is_err() || !self.lack_whole {
            self.outage.tell(saved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RuntimeSettings;

    use elastane_core::Resources;
    use elastane_runs::{ContainerKind, ContainerSample, OpenRun, Outcome};

    fn sampled(slot: i64) -> RunEvent {
        RunEvent::Sampled {
            application_id: "a".into(),
            container: "x".into(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            sample: ContainerSample::new(slot * 3_000, 3_000, Resources::ZERO),
        }
    }

    fn begun() -> RunEvent {
        RunEvent::Whole(Box::new(OpenRun { application_id: "a".into(), ..OpenRun::begun(0) }))
    }

    fn ended() -> RunEvent {
        RunEvent::Ended { application_id: "a".into(), ended_ms: 9_000, outcome: Outcome::Succeeded }
    }

    #[test]
    fn of_too_much_that_waits_the_samples_go_and_all_is_asked_for_once_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.sqlite");
        let mut depository = Depository::open(&path).unwrap().depository;
        let shared = Arc::new(Shared::new(RuntimeSettings::DEFAULT_PROFILE, Arc::default()));
        let take_wants_whole = || shared.wants_whole.swap(false, Relaxed);
        let mut checkpoints = Checkpoints::new(Arc::clone(&shared));
        let waiting = vec![begun(), sampled(1), sampled(2), sampled(3), ended()];
        checkpoints.add(waiting, false);
        checkpoints.drop_samples(5);
        assert_eq!(checkpoints.waiting.len(), 5);
        checkpoints.drop_samples(4);
        assert_eq!(checkpoints.waiting, [begun(), ended()]);
        let counted = serde_json::to_value(&*shared.counters).unwrap();
        assert_eq!(counted["samples_lost"], 3);
        assert!(!take_wants_whole(), "it cannot be saved yet");
        checkpoints.save(&mut depository, 10_000).unwrap();
        assert!(take_wants_whole());
        checkpoints.add(Vec::new(), true);
        checkpoints.save(&mut depository, 10_000).unwrap();
        assert!(!checkpoints.lack_whole() && !take_wants_whole());
    }
}
