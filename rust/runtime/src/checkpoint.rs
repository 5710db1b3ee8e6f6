//! What is recorded of running applications goes to the depository every few seconds, on a thread
//! of its own, so that a crash of the ResourceManager loses no more than that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use elastane_store::{Depository, Event, StoreError};

use crate::renewal;

/// While the depository cannot be written so much waits: 1,000 containers for ten minutes, 50 MB.
const MOST_WAITING: usize = 200_000;

/// Hands on what is new to the thread that saves it.
pub(crate) struct Checkpoints {
    sender: Option<Sender<News>>,
    thread: Option<JoinHandle<Saver>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    failed: AtomicU64,
    lost: AtomicU64,
    /// The depository lacks what was handed on before.
    wants_whole: AtomicBool,
}

/// What happened until a moment.
struct News {
    events: Vec<Event>,
    now_ms: i64,
    /// It is all that is recorded, not only what is new of it.
    is_whole: bool,
}

impl Checkpoints {
    /// Saves into this connection.
    pub(crate) fn open(depository: Depository) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("elastane-checkpoint".into())
            .spawn({
                let saver = Saver::new(depository, Arc::clone(&shared));
                move || saver.save_all(&receiver)
            })?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            shared,
        })
    }

    /// What happened to running applications until `now_ms`.
    pub(crate) fn save(&self, events: Vec<Event>, now_ms: i64) {
        self.send(News {
            events,
            now_ms,
            is_whole: false,
        });
    }

    /// Whether all that is recorded is to be saved next; it is asked for once.
    pub(crate) fn takes_whole(&self) -> bool {
        self.shared.wants_whole.swap(false, Relaxed)
    }

    /// All that is recorded until `now_ms`.
    pub(crate) fn save_whole(&self, events: Vec<Event>, now_ms: i64) {
        self.send(News {
            events,
            now_ms,
            is_whole: true,
        });
    }

    fn send(&self, news: News) {
        if let Some(sender) = &self.sender
            && sender.send(news).is_err()
        {
            // The thread has said why it ended.
            self.shared.failed.fetch_add(1, Relaxed);
        }
    }

    /// How often the depository could not be written.
    pub(crate) fn failed(&self) -> u64 {
        self.shared.failed.load(Relaxed)
    }

    /// How many samples no longer wait because the depository could not be written for too long.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Relaxed)
    }

    /// Saves what waits, and all that is recorded where the depository lacks it, and ends the
    /// thread.
    pub(crate) fn close(&mut self, whole: impl FnOnce() -> Vec<Event>, now_ms: i64) {
        self.sender = None;
        let Some(thread) = self.thread.take() else {
            return;
        };
        match thread.join() {
            Ok(mut saver) if saver.lacks_whole => saver.take(News {
                events: whole(),
                now_ms,
                is_whole: true,
            }),
            Ok(_) => {}
            Err(_) => log::error!("the thread that saves what is recorded panicked"),
        }
    }
}

struct Saver {
    depository: Depository,
    /// What could not be saved yet.
    waiting: Vec<Event>,
    is_failing: bool,
    /// Of what waited, samples were dropped.
    has_dropped: bool,
    /// All that is recorded was asked for and is not saved yet.
    lacks_whole: bool,
    shared: Arc<Shared>,
}

impl Saver {
    fn new(depository: Depository, shared: Arc<Shared>) -> Self {
        Self {
            depository,
            waiting: Vec::new(),
            is_failing: false,
            has_dropped: false,
            lacks_whole: false,
            shared,
        }
    }

    fn save_all(mut self, news: &Receiver<News>) -> Self {
        while let Ok(news) = news.recv() {
            self.take(news);
        }
        self
    }

    fn take(&mut self, news: News) {
        let saved = self.save(news);
        self.tell(saved);
    }

    fn save(&mut self, news: News) -> Result<(), StoreError> {
        if news.is_whole {
            let is_in_there =
                |event: &Event| matches!(event, Event::Sampled { .. } | Event::Whole(_));
            self.waiting.retain(|event| !is_in_there(event));
            self.has_dropped = false;
        }
        self.waiting.extend(news.events);
        let mut saved = self.write(news.now_ms);
        if saved.is_ok() && news.is_whole {
            self.lacks_whole = false;
        }
        if saved.is_ok() && self.has_dropped {
            self.has_dropped = false;
            self.ask_for_whole();
        }
        if matches!(saved, Err(StoreError::Damaged { .. })) {
            match renewal::begin_anew(&mut self.depository) {
                Ok(true) => self.ask_for_whole(),
                Ok(false) => {}
                Err(error) => saved = Err(error),
            }
        }
        if saved.is_err() {
            self.drop_samples(MOST_WAITING);
        }
        saved
    }

    fn write(&mut self, now_ms: i64) -> Result<(), StoreError> {
        if renewal::follow(&mut self.depository)? {
            self.ask_for_whole();
        }
        self.depository.checkpoint(&self.waiting, now_ms)?;
        self.waiting.clear();
        self.depository.shorten_open_runs()
    }

    /// What is new of a run says nothing to a file that has not its beginning.
    fn ask_for_whole(&mut self) {
        self.lacks_whole = true;
        self.shared.wants_whole.store(true, Relaxed);
    }

    /// All of them, once there are too many: what runs has them, and is saved as a whole later. Who
    /// began and who ended stays: there is little of it.
    fn drop_samples(&mut self, most_waiting: usize) {
        let before = self.waiting.len();
        if before <= most_waiting && !self.has_dropped {
            return;
        }
        self.waiting
            .retain(|event| !matches!(event, Event::Sampled { .. }));
        let dropped = before - self.waiting.len();
        self.shared.lost.fetch_add(dropped as u64, Relaxed);
        if dropped > 0 && !self.has_dropped {
            self.has_dropped = true;
            log::error!(
                "more than {most_waiting} samples of running applications wait to be saved and are \
                 dropped: what runs is saved as a whole once that works again"
            );
        }
    }

    /// Says once that saving fails, and once that it works again.
    fn tell(&mut self, saved: Result<(), StoreError>) {
        match saved {
            Ok(()) if self.is_failing && !self.lacks_whole => {
                self.is_failing = false;
                log::warn!("what is recorded of running applications is saved again");
            }
            Ok(()) => {}
            Err(error) => {
                self.shared.failed.fetch_add(1, Relaxed);
                if !self.is_failing {
                    self.is_failing = true;
                    log::error!(
                        "what is recorded of running applications is not saved, scheduling goes \
                         on and saving is tried again: {error}"
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use elastane_core::Resources;
    use elastane_predict::{ContainerKind, Outcome};

    fn sampled(slot: i64) -> Event {
        Event::Sampled {
            application_id: "a".into(),
            container: "x".into(),
            kind: ContainerKind::DEFAULT_EXECUTOR,
            sample_end_since_start_ms: slot * 3_000,
            length_ms: 3_000,
            usage: Resources::ZERO,
        }
    }

    fn begun() -> Event {
        Event::Begun {
            application_id: "a".into(),
            application_key: "sales".into(),
            application_name: "Sales".into(),
            started_ms: 0,
        }
    }

    fn ended() -> Event {
        Event::Ended {
            application_id: "a".into(),
            ended_ms: 9_000,
            outcome: Outcome::Succeeded,
        }
    }

    #[test]
    fn of_too_much_that_waits_the_samples_go_and_all_is_asked_for_once_it_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("depository.sqlite");
        let depository = Depository::open(&path).unwrap().depository;
        let shared = Arc::new(Shared::default());
        let mut saver = Saver::new(depository, Arc::clone(&shared));
        saver.waiting = vec![begun(), sampled(1), sampled(2), sampled(3), ended()];
        saver.drop_samples(5);
        assert_eq!(saver.waiting.len(), 5);
        saver.drop_samples(4);
        assert_eq!(saver.waiting, [begun(), ended()]);
        assert_eq!(shared.lost.load(Relaxed), 3);
        assert!(!shared.wants_whole.load(Relaxed), "it cannot be saved yet");
        let news = |is_whole| News {
            events: Vec::new(),
            now_ms: 10_000,
            is_whole,
        };
        saver.take(news(false));
        assert!(shared.wants_whole.swap(false, Relaxed));
        saver.take(news(true));
        assert!(!saver.lacks_whole && !shared.wants_whole.load(Relaxed));
    }
}
