//! The thread that searches the starts of what waits. The ResourceManager's thread, on which all heartbeats wait,
//! only takes the copy.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use elastane_core::cluster::{StartPlan, StartSearch};

use crate::counters::{Counters, count};

/// Hands searches to their thread, one at a time.
pub(crate) struct StartPlannerThread {
    searches: Option<SyncSender<StartSearch>>,
    is_busy: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl StartPlannerThread {
    /// Plans go to `made`. A search that panics is counted, and the former plan stays.
    ///
    /// # Errors
    /// A thread that cannot be started.
    pub(crate) fn open(
        counters: Arc<Counters>,
        made: impl Fn(StartPlan) + Send + 'static,
    ) -> io::Result<Self> {
        let (searches, waiting) = sync_channel::<StartSearch>(1);
        let is_busy = Arc::new(AtomicBool::new(false));
        let busy = Arc::clone(&is_busy);
        let thread =
            std::thread::Builder::new().name("elastane-starts".into()).spawn(move || {
                let mut told = false;
                for search in waiting {
                    match catch_unwind(AssertUnwindSafe(|| search.run())) {
                        Ok(plan) => made(plan),
                        Err(_) => {
                            count(&counters.planning_failures);
                            if !std::mem::replace(&mut told, true) {
                                log::error!(
                                    "planning the starts of waiting containers panicked (see \
                                     standard error); the previous plan stays in force; further \
                                     panics are only counted"
                                );
                            }
                        }
                    }
                    busy.store(false, Relaxed);
                }
            })?;
        Ok(Self { searches: Some(searches), is_busy, thread: Some(thread) })
    }

    /// Searches what `copy` gives, unless the thread is still busy.
    pub(crate) fn search(&self, copy: impl FnOnce() -> Option<StartSearch>) {
        if self.is_busy.load(Relaxed) {
            return;
        }
        if let (Some(searches), Some(search)) = (&self.searches, copy()) {
            self.is_busy.store(true, Relaxed);
            if searches.try_send(search).is_err() {
                self.is_busy.store(false, Relaxed);
            }
        }
    }

    /// Ends the thread once its search is done.
    pub(crate) fn close(&mut self) {
        self.searches = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that plans the starts of waiting containers panicked");
        }
    }
}
