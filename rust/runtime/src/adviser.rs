//! What mode `enforce` would have made of what happened, worked out on a thread of its own when somebody asks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

use crate::past::PastCluster;

/// Replays what happened; the answer is JSON.
pub type Advise = fn(&PastCluster) -> serde_json::Result<Value>;

/// The pause after a replay, in lengths of that replay, and its least length: replays take a tenth of a core at most.
const REST: u32 = 9;
const LEAST_REST: Duration = Duration::from_secs(5);

/// One replay at a time. Its thread owns a copy of the record and nothing else, so nobody waits for it.
#[derive(Default)]
pub(crate) struct Adviser {
    advise: Option<Advise>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_working: bool,
    rests_until: Option<Instant>,
    latest: Option<Value>,
    /// Why the last replay gave no advice.
    failure: Option<String>,
}

impl State {
    fn may_begin(&self) -> bool {
        !self.is_working && self.rests_until.is_none_or(|until| until <= Instant::now())
    }

    fn failed(&mut self, failure: &str) {
        log::error!("{failure}");
        self.latest = None;
        self.failure = Some(failure.to_owned());
    }
}

/// The latest advice.
#[derive(Debug, Serialize)]
pub(crate) struct LatestAdvice {
    is_recording: bool,
    /// A replay is under way.
    is_working: bool,
    advice: Option<Value>,
    /// Why the last replay gave no advice.
    failure: Option<String>,
}

impl Adviser {
    pub(crate) fn by(advise: Advise) -> Self {
        Self { advise: Some(advise), ..Self::default() }
    }

    /// The latest advice. Begins a replay of `past`, none where nothing is recorded, unless one is under way or ended a
    /// moment ago.
    pub(crate) fn ask(
        &self,
        past: impl FnOnce() -> Option<PastCluster>,
        is_recording: bool,
    ) -> LatestAdvice {
        let may_begin = is_recording && self.state.lock().may_begin();
        // Copied without the lock: that of another who asks at the same time is not replayed.
        if let Some(past) = may_begin.then(past).flatten()
            && let Some(advise) = self.advise
        {
            self.begin(advise, past);
        }
        let state = self.state.lock();
        LatestAdvice {
            is_recording,
            is_working: state.is_working,
            advice: state.latest.clone(),
            failure: state.failure.clone(),
        }
    }

    fn begin(&self, advise: Advise, past: PastCluster) {
        let mut begun = self.state.lock();
        if !begun.may_begin() {
            return;
        }
        let state = Arc::clone(&self.state);
        let thread = std::thread::Builder::new().name("elastane-advice".into());
        let replay = move || {
            let begun = Instant::now();
            let advice = catch_unwind(AssertUnwindSafe(|| advise(&past)));
            let took = begun.elapsed();
            let mut state = state.lock();
            state.is_working = false;
            state.rests_until = Some(Instant::now() + (took * REST).max(LEAST_REST));
            match advice {
                Ok(Ok(mut advice)) => {
                    if let Some(fields) = advice.as_object_mut() {
                        fields.insert("took_s".to_owned(), took.as_secs_f64().into());
                    }
                    state.latest = Some(advice);
                    state.failure = None;
                }
                Ok(Err(error)) => state.failed(&format!("an advice is no JSON: {error}")),
                Err(_) => state.failed("the replay of what happened panicked, see standard error"),
            }
        };
        match thread.spawn(replay) {
            Ok(_) => begun.is_working = true,
            Err(error) => log::error!("no thread for a replay of what happened: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use serde_json::json;

    use super::*;
    use crate::settings::ServiceSettings;

    const DEADLINE: Duration = Duration::from_secs(20);

    fn past() -> Option<PastCluster> {
        Some(PastCluster {
            since_ms: 0,
            until_ms: 1,
            nodes: Vec::new(),
            queues: Vec::new(),
            applications: Vec::new(),
            settings: ServiceSettings::default(),
        })
    }

    /// Asks until no replay is under way.
    fn ask(adviser: &Adviser) -> LatestAdvice {
        let begun = Instant::now();
        loop {
            let latest = adviser.ask(past, true);
            if !latest.is_working {
                return latest;
            }
            assert!(begun.elapsed() < DEADLINE, "the replay does not end");
            std::thread::yield_now();
        }
    }

    #[test]
    fn many_who_ask_get_one_replay() {
        static REPLAYS: AtomicUsize = AtomicUsize::new(0);
        let adviser = Adviser::by(|_| {
            REPLAYS.fetch_add(1, SeqCst);
            Ok(json!({ "applications": 3 }))
        });
        for _ in 0..3 {
            let advice = ask(&adviser).advice.expect("an advice");
            assert_eq!(advice["applications"], 3);
            assert!(advice["took_s"].is_number());
        }
        assert_eq!(REPLAYS.load(SeqCst), 1);
    }

    #[test]
    fn a_replay_that_panics_ends_without_an_advice() {
        let adviser = Adviser::by(|_| panic!("a panic of a test"));
        let latest = ask(&adviser);
        assert!(latest.advice.is_none());
        assert!(latest.failure.is_some_and(|why| why.contains("panicked")));
    }

    #[test]
    fn without_a_record_nothing_is_replayed() {
        let adviser = Adviser::by(|_| panic!("nobody asked for it"));
        let unrecorded = adviser.ask(past, false);
        assert!(!unrecorded.is_working && unrecorded.advice.is_none());
        let latest = adviser.ask(|| None, true);
        assert!(!latest.is_working && latest.advice.is_none());
    }
}
