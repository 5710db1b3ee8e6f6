//! Lowers memory limits on threads of their own. The kernel reclaims memory during such a write, which takes any time where a
//! disk or a file system does not answer.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::{Change, KernelFileError, UrgentRaises, Value, file_access::write_text};
use crate::workers::{QueueFull, Workers};

/// Groups whose limits are being lowered. Others wait for a later round.
const MOST_OPEN: usize = 64;
/// The kernel frees a step of 64 MiB in some 20 ms.
const LATE_AFTER: Duration = Duration::from_secs(10);

/// At most one write for each group, besides one that has ended and is not collected yet.
#[derive(Debug)]
pub struct Reclaims {
    workers: Workers<Lowering, Lowered>,
    open: BTreeMap<PathBuf, Open>,
}

/// How a write ended.
#[derive(Debug)]
pub struct Lowered {
    pub change: Change,
    /// Whether the value is in force; false if the agent wrote another one meanwhile.
    pub outcome: Result<bool, KernelFileError>,
}

/// A write, for the agent and the thread. Never locked during a write.
#[derive(Debug, Default)]
struct State {
    begun: Option<Instant>,
    /// What the agent has written to the file since it queued the write.
    newest: Option<Value>,
    /// The thread writes no more, whatever is the newest.
    has_ended: bool,
}

#[derive(Debug)]
struct Lowering {
    change: Change,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct Open {
    change: Change,
    state: Arc<Mutex<State>>,
    is_late: bool,
}

impl Reclaims {
    pub fn start(raises: Arc<UrgentRaises>) -> io::Result<Self> {
        let work = move |lowering: Lowering| lowering.write(&raises);
        let workers = Workers::start("reclaim", MOST_OPEN, work)?;
        Ok(Self { workers, open: BTreeMap::new() })
    }

    /// Queues a write for a group that has none, or whose write has ended; never waits.
    pub fn lower(&mut self, change: Change) -> Result<(), QueueFull> {
        let state = Arc::default();
        self.workers.submit(Lowering { change: change.clone(), state: Arc::clone(&state) })?;
        self.open.insert(change.group.clone(), Open { change, state, is_late: false });
        Ok(())
    }

    /// Whether a write of the group's limit has not ended. Its file then holds a value that nobody knows.
    pub fn is_open(&self, group: &Path) -> bool {
        self.open.contains_key(group)
    }

    /// The queued change of the group's limit, if its write has not ended.
    pub fn open_of(&self, group: &Path) -> Option<&Change> {
        self.open.get(group).map(|open| &open.change)
    }

    /// The groups whose write has not ended.
    pub fn open(&self) -> impl Iterator<Item = &Path> {
        self.open.keys().map(PathBuf::as_path)
    }

    /// Makes the open write of the file, if there is one, end with this value. To be called before the agent itself writes
    /// the value.
    pub fn supersede(&self, change: &Change) {
        let open = self.open.get(&change.group);
        if let Some(open) = open.filter(|open| open.change.file == change.file) {
            open.state.lock().newest = Some(change.value);
        }
    }

    /// Whether the open write of the file will see by what it is superseded. False if it has ended, or if there is none.
    pub fn ends_with_newest(&self, change: &Change) -> bool {
        let open = self.open.get(&change.group).filter(|open| open.change.file == change.file);
        open.is_some_and(|open| !open.state.lock().has_ended)
    }

    /// The writes that have ended since the last call; never waits.
    pub fn collect(&mut self) -> Vec<Lowered> {
        let all = self.workers.collect_all(Duration::ZERO);
        for Lowered { change, .. } in &all {
            // A later write of the group may be open.
            if self.open_of(&change.group) == Some(change) {
                self.open.remove(&change.group);
            }
        }
        all
    }

    /// Groups whose write began [`LATE_AFTER`] ago or earlier, each once.
    pub fn late(&mut self, now: Instant) -> Vec<PathBuf> {
        let is_late = |open: &Open| {
            let begun = open.state.lock().begun;
            begun.is_some_and(|begun| now.duration_since(begun) >= LATE_AFTER)
        };
        let late = self.open.iter_mut().filter(|(_, open)| !open.is_late && is_late(open));
        late.map(|(group, open)| {
            open.is_late = true;
            group.clone()
        })
        .collect()
    }
}

impl Lowering {
    fn write(self, raises: &UrgentRaises) -> Lowered {
        let Self { change, state } = self;
        {
            let mut state = state.lock();
            if state.newest.is_some() {
                state.has_ended = true;
                return Lowered { change, outcome: Ok(false) };
            }
            state.begun = Some(Instant::now());
        }
        let write = |value| {
            let path = change.group.join(change.file.name());
            write_text(&path, &change.file.text(value))
        };
        let mut written = raises.unless_risen(&change.group, change.file, || write(change.value));
        // v1 sets a limit only after it has reclaimed: a value written meanwhile may be lost by now.
        let mut last = None;
        loop {
            // In this order: the agent supersedes the write before it takes the raise over.
            let risen = raises.risen(&change.group, change.file);
            let mut state = state.lock();
            let wanted = state.newest.into_iter().chain(risen).reduce(Value::looser);
            let Some(value) = wanted.filter(|_| wanted != last) else {
                state.has_ended = true;
                return Lowered { change, outcome: written.map(|()| last.is_none()) };
            };
            drop(state);
            written = write(value);
            last = wanted;
        }
    }
}

#[cfg(test)]
mod tests;
