//! What is recorded of running applications goes to the depository every few seconds, on a thread
//! of its own, so that a crash of the ResourceManager loses no more than that.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use elastane_store::{Access, Depository, Event, StoreError};

/// While the depository cannot be written so much waits: 1,000 containers for ten minutes, 50 MB.
const MOST_WAITING: usize = 200_000;

/// Hands on what is new to the thread that saves it.
pub(crate) struct Checkpoints {
    sender: Option<Sender<News>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    failed: AtomicU64,
    lost: AtomicU64,
}

/// What happened until a moment.
struct News {
    events: Vec<Event>,
    now_ms: i64,
}

impl Checkpoints {
    /// Saves into this connection.
    pub(crate) fn open(depository: Depository) -> io::Result<Self> {
        let counts = Arc::new(Counts::default());
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("elastane-checkpoint".into())
            .spawn({
                let saver = Saver {
                    depository,
                    waiting: Vec::new(),
                    is_failing: false,
                    counts: Arc::clone(&counts),
                };
                move || saver.save_all(&receiver)
            })?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            counts,
        })
    }

    /// What happened to running applications until `now_ms`.
    pub(crate) fn save(&self, events: Vec<Event>, now_ms: i64) {
        if let Some(sender) = &self.sender
            && sender.send(News { events, now_ms }).is_err()
        {
            // The thread has said why it ended.
            self.counts.failed.fetch_add(1, Relaxed);
        }
    }

    /// How often the depository could not be written.
    pub(crate) fn failed(&self) -> u64 {
        self.counts.failed.load(Relaxed)
    }

    /// What was never saved because the depository could not be written for too long.
    pub(crate) fn lost(&self) -> u64 {
        self.counts.lost.load(Relaxed)
    }

    /// Saves what waits and ends the thread.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that saves what is recorded panicked");
        }
    }
}

struct Saver {
    depository: Depository,
    /// What could not be saved yet.
    waiting: Vec<Event>,
    is_failing: bool,
    counts: Arc<Counts>,
}

impl Saver {
    fn save_all(mut self, news: &Receiver<News>) {
        while let Ok(News { events, now_ms }) = news.recv() {
            let saved = self.save(events, now_ms);
            self.tell(saved);
        }
    }

    fn save(&mut self, news: Vec<Event>, now_ms: i64) -> Result<(), StoreError> {
        self.waiting.extend(news);
        let saved = self.depository.checkpoint(&self.waiting, now_ms);
        match &saved {
            Ok(()) => {
                self.waiting.clear();
                return self.depository.shorten_open_runs();
            }
            Err(StoreError::Damaged { .. }) => self.look_for_a_new_file(),
            Err(_) => {}
        }
        let too_many = self.waiting.len().saturating_sub(MOST_WAITING);
        self.waiting.drain(..too_many);
        self.counts.lost.fetch_add(too_many as u64, Relaxed);
        saved
    }

    /// The learner moves a damaged file aside: until it has, this one stays as it is.
    fn look_for_a_new_file(&mut self) {
        if let Ok(depository) = Depository::open_existing(self.depository.path(), Access::Write) {
            self.depository = depository;
        }
    }

    /// Says once that saving fails, and once that it works again.
    fn tell(&mut self, saved: Result<(), StoreError>) {
        match saved {
            Ok(()) if self.is_failing => {
                self.is_failing = false;
                log::warn!("what is recorded of running applications is saved again");
            }
            Ok(()) => {}
            Err(error) => {
                self.counts.failed.fetch_add(1, Relaxed);
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
