//! Old runs are removed every hour, on a thread of its own: it may take longer than what is recorded
//! may wait to be saved.

use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use elastane_store::{Depository, Pruned, Retention};

const EVERY_MS: i64 = 3_600_000;

/// Removes old runs now and then.
pub(crate) struct Retainer {
    sender: Option<SyncSender<i64>>,
    thread: Option<JoinHandle<()>>,
    due_ms: Mutex<Option<i64>>,
}

impl Retainer {
    /// Removes them by this connection.
    pub(crate) fn open(depository: Depository, retention: Retention) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("elastane-retention".into())
            .spawn(move || prune_all(depository, &retention, &receiver))?;
        Ok(Self {
            sender: Some(sender),
            thread: Some(thread),
            due_ms: Mutex::new(None),
        })
    }

    /// Starts removing when it is due: the first time, and then every hour.
    pub(crate) fn tick(&self, now_ms: i64) {
        // Whoever holds it asks already.
        let Ok(mut due_ms) = self.due_ms.try_lock() else {
            return;
        };
        if due_ms.is_some_and(|due_ms| now_ms < due_ms) {
            return;
        }
        *due_ms = Some(now_ms + EVERY_MS);
        if let Some(sender) = &self.sender {
            // One that waits already will do.
            let _ = sender.try_send(now_ms);
        }
    }

    /// Ends the thread, after what it is removing.
    pub(crate) fn close(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that removes old runs panicked");
        }
    }
}

fn prune_all(mut depository: Depository, retention: &Retention, moments: &Receiver<i64>) {
    while let Ok(now_ms) = moments.recv() {
        match depository.prune(retention, now_ms) {
            Ok(pruned) => tell(pruned, retention),
            Err(error) => log::error!("old runs are not removed, it is tried again: {error}"),
        }
    }
}

fn tell(pruned: Pruned, retention: &Retention) {
    if pruned.runs() > 0 {
        let Pruned {
            old_runs,
            spare_runs,
            profile_runs,
        } = pruned;
        log::info!(
            "removed {old_runs} old runs, {spare_runs} for want of room, {profile_runs} of profiles"
        );
    }
    if pruned.profile_runs > 0 {
        log::warn!(
            "yarn.scheduler.elastane.depository.max-mb is {}, too small for the profiles of all \
             applications: those that ran longest ago are forgotten",
            retention.most_bytes / MB
        );
    }
}

/// What the setting counts in.
pub(crate) const MB: u64 = 1_000_000;
