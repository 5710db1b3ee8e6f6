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

/// An advice is not worked out anew for so long.
const VALID_FOR: Duration = Duration::from_secs(60);

/// One replay at a time. Its thread owns a copy of the record and nothing else, so nobody waits for it.
#[derive(Default)]
pub(crate) struct Adviser {
    advise: Option<Advise>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    is_working: bool,
    /// When the latest replay ended.
    ended: Option<Instant>,
    latest: Option<Value>,
}

/// The latest advice.
#[derive(Debug, Serialize)]
pub(crate) struct LatestAdvice {
    is_recording: bool,
    /// A replay is under way.
    is_working: bool,
    advice: Option<Value>,
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
        let is_begun = {
            let mut state = self.state.lock();
            let is_old = state.ended.is_none_or(|ended| ended.elapsed() >= VALID_FOR);
            let begins = is_recording && is_old && !state.is_working;
            state.is_working |= begins;
            begins
        };
        if is_begun {
            let begins = self.advise.zip(past());
            let mut state = self.state.lock();
            match begins.map(|(advise, past)| self.begin(advise, past)) {
                Some(Ok(())) => {}
                Some(Err(error)) => {
                    log::error!("no thread for a replay of what happened: {error}");
                    state.is_working = false;
                }
                None => state.is_working = false,
            }
        }
        let state = self.state.lock();
        let State { is_working, ref latest, .. } = *state;
        LatestAdvice { is_recording, is_working, advice: latest.clone() }
    }

    fn begin(&self, advise: Advise, past: PastCluster) -> std::io::Result<()> {
        let state = Arc::clone(&self.state);
        let thread = std::thread::Builder::new().name("elastane-advice".into());
        let replay = move || {
            let begun = Instant::now();
            let advice = catch_unwind(AssertUnwindSafe(|| advise(&past)));
            let took_s = begun.elapsed().as_secs_f64();
            let mut state = state.lock();
            state.is_working = false;
            state.ended = Some(Instant::now());
            match advice {
                Ok(Ok(mut advice)) => {
                    if let Some(fields) = advice.as_object_mut() {
                        fields.insert("took_s".to_owned(), took_s.into());
                    }
                    state.latest = Some(advice);
                }
                Ok(Err(error)) => log::error!("an advice is no JSON: {error}"),
                Err(_) => log::error!(
                    "the replay of what happened panicked, see standard error: there is no new advice"
                ),
            }
        };
        thread.spawn(replay).map(drop)
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
        assert!(ask(&adviser).advice.is_none());
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
