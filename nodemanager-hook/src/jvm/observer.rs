//! Looks at JVMs on a thread of its own. A job can hold up whoever looks at it: its `/tmp` may be a file system that does not
//! answer, and its memory map may be locked. Then another thread takes over and leaves that container alone for a while.

use std::{
    collections::{HashMap, HashSet},
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};

use super::{Control, Jvm, JvmHost, Jvms};
use crate::{
    container_id::ContainerId,
    sensors::{HeldHeap, ProcessKey},
};

/// A look takes less than a millisecond.
const SLOW_FROM: Duration = Duration::from_millis(200);
const STUCK_FROM: Duration = Duration::from_secs(2);
/// Slow looks at a container before it is left alone.
const MOST_SLOW: u32 = 3;
const LEFT_ALONE_FOR: Duration = Duration::from_secs(300);
/// Threads that may be stuck at a time. Until one of them returns, no JVM is looked at.
const MOST_STUCK: usize = 8;

/// The processes of a container at its last reading.
#[derive(Debug, Clone)]
pub struct ObservedContainer {
    pub id: ContainerId,
    pub processes: Vec<ProcessKey>,
}

/// A JVM as it was seen last.
#[derive(Debug, Clone)]
pub struct SeenJvm {
    /// None if it publishes no counters.
    pub heap: Option<HeldHeap>,
    pub mapped_again_bytes: u64,
    pub control: Option<Control>,
}

#[derive(Debug)]
pub struct JvmObserver {
    host: JvmHost,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Which thread looks. Those before it are stuck, or end.
    thread: usize,
    is_running: bool,
    is_stopped: bool,
    stuck: usize,
    containers: Option<Vec<ObservedContainer>>,
    looking_at: Option<(ContainerId, Instant)>,
    slow: HashMap<ContainerId, u32>,
    left_alone_until: HashMap<ContainerId, Instant>,
    seen: HashMap<ProcessKey, SeenJvm>,
    /// The processes of the last call, all of which were looked at if this is not None.
    known: Option<HashSet<ProcessKey>>,
    troubles: Vec<String>,
}

impl JvmObserver {
    pub fn new(host: JvmHost) -> Self {
        Self { host, shared: Arc::default() }
    }

    /// Lets the thread look at these containers. Returns what went wrong since the last call.
    pub fn look_at(&self, containers: Vec<ObservedContainer>, now: Instant) -> Vec<String> {
        let mut state = self.shared.state.lock();
        state.take_over_if_stuck(now);
        state.forget_ended(&containers, now);
        state.containers = Some(containers);
        if !state.is_running && state.stuck < MOST_STUCK {
            state.thread += 1;
            match self.start_thread(state.thread) {
                Ok(()) => state.is_running = true,
                Err(error) => state.troubles.push(format!("JVMs are not measured: {error}")),
            }
        }
        self.shared.changed.notify_all();
        std::mem::take(&mut state.troubles)
    }

    /// A JVM as it was seen last; None if the process is none, or was not looked at yet.
    pub fn seen(&self, key: ProcessKey) -> Option<SeenJvm> {
        self.shared.state.lock().seen.get(&key).cloned()
    }

    /// Whether every process was looked at.
    pub fn knows_all(&self) -> bool {
        self.shared.state.lock().known.is_some()
    }

    fn start_thread(&self, number: usize) -> io::Result<()> {
        let (shared, host) = (Arc::clone(&self.shared), self.host.clone());
        let thread = thread::Builder::new().name("jvm observer".into());
        thread.spawn(move || shared.look(number, &host)).map(drop)
    }
}

impl Drop for JvmObserver {
    fn drop(&mut self) {
        self.shared.state.lock().is_stopped = true;
        self.shared.changed.notify_all();
    }
}

impl State {
    fn take_over_if_stuck(&mut self, now: Instant) {
        let is_stuck = |begun: Instant| now.saturating_duration_since(begun) >= STUCK_FROM;
        let Some((id, _)) = self.looking_at.take_if(|(_, begun)| is_stuck(*begun)) else {
            return;
        };
        self.is_running = false;
        self.thread += 1;
        self.stuck += 1;
        self.leave_alone(id, now);
        if self.stuck == MOST_STUCK {
            self.seen.clear();
            self.troubles.push(format!(
                "reading {MOST_STUCK} JVMs hangs: no JVM is measured until one of them answers"
            ));
        }
    }

    fn leave_alone(&mut self, id: ContainerId, now: Instant) {
        self.troubles.push(format!(
            "{id}: reading its JVMs is slow or hangs; they are neither measured nor asked to \
             shrink for {LEFT_ALONE_FOR:?}"
        ));
        self.slow.remove(&id);
        self.left_alone_until.insert(id, now + LEFT_ALONE_FOR);
    }

    fn forget_ended(&mut self, containers: &[ObservedContainer], now: Instant) {
        let ids: HashSet<&ContainerId> = containers.iter().map(|container| &container.id).collect();
        self.slow.retain(|id, _| ids.contains(id));
        self.left_alone_until.retain(|id, until| ids.contains(id) && *until > now);
        let observed = containers.iter().filter(|one| !self.left_alone_until.contains_key(&one.id));
        let current: HashSet<ProcessKey> =
            observed.flat_map(|container| &container.processes).copied().collect();
        self.seen.retain(|key, _| current.contains(key));
        self.known.take_if(|known| !current.is_subset(known));
    }
}

impl Shared {
    fn look(&self, thread: usize, host: &JvmHost) {
        let mut jvms = Jvms::default();
        let mut others = OtherProcesses::default();
        while let Some(containers) = self.next(thread) {
            let ids: HashMap<ProcessKey, &ContainerId> = containers
                .iter()
                .flat_map(|one| one.processes.iter().map(|key| (*key, &one.id)))
                .collect();
            others.sizes.retain(|key, _| ids.contains_key(key));
            let mut look = |key: ProcessKey| {
                let id = ids.get(&key)?;
                self.while_looking_at(thread, id, || others.find_jvm(key, host))
            };
            let processes: Vec<&[ProcessKey]> =
                containers.iter().map(|container| container.processes.as_slice()).collect();
            let mut errors =
                jvms.update(&processes, Instant::now(), |key| look(key).unwrap_or(Ok(None)));
            for (key, id) in &ids {
                let Some(jvm) = jvms.get_mut(key.pid).filter(|jvm| jvm.key() == *key) else {
                    continue;
                };
                match self.while_looking_at(thread, id, || see(jvm, host)) {
                    Some(Ok(seen)) => self.publish(thread, *key, Some(seen)),
                    Some(Err(error)) => {
                        self.publish(thread, *key, None);
                        errors.push(error);
                    }
                    None => {}
                }
            }
            let mut state = self.state.lock();
            state.troubles.extend(errors.iter().map(io::Error::to_string));
            // Not if there are newer processes to look at.
            if state.thread == thread && state.containers.is_none() {
                state.known = jvms.has_looked_at_all().then(|| ids.into_keys().collect());
            }
        }
    }

    /// Waits for containers to look at. None if the thread has to end.
    fn next(&self, thread: usize) -> Option<Vec<ObservedContainer>> {
        let mut state = self.state.lock();
        loop {
            if state.is_stopped || state.thread != thread {
                return None;
            }
            if let Some(containers) = state.containers.take() {
                return Some(containers);
            }
            self.changed.wait(&mut state);
        }
    }

    /// Does something that may never end. None if the container is left alone, or if another thread has taken over.
    fn while_looking_at<T>(
        &self,
        thread: usize,
        id: &ContainerId,
        look: impl FnOnce() -> T,
    ) -> Option<T> {
        let begun = Instant::now();
        {
            let mut state = self.state.lock();
            if state.thread != thread || state.left_alone_until.contains_key(id) {
                return None;
            }
            state.looking_at = Some((id.clone(), begun));
        }
        let seen = look();
        let mut state = self.state.lock();
        // While this thread was stuck, it was given up, and perhaps another one has begun.
        if state.looking_at.take_if(|(at, since)| *at == *id && *since == begun).is_none() {
            state.stuck = state.stuck.saturating_sub(1);
            return None;
        }
        let now = Instant::now();
        if now - begun >= SLOW_FROM {
            let slow = state.slow.entry(id.clone()).or_default();
            *slow += 1;
            if *slow >= MOST_SLOW {
                state.leave_alone(id.clone(), now);
            }
        } else {
            state.slow.remove(id);
        }
        Some(seen)
    }

    fn publish(&self, thread: usize, key: ProcessKey, seen: Option<SeenJvm>) {
        let mut state = self.state.lock();
        if state.thread == thread {
            match seen {
                Some(seen) => state.seen.insert(key, seen),
                None => state.seen.remove(&key),
            };
        }
    }
}

/// Processes that are no JVMs, with their sizes when that was found out.
#[derive(Debug, Default)]
struct OtherProcesses {
    sizes: HashMap<ProcessKey, u64>,
}

impl OtherProcesses {
    /// A process of the same size as before is still no JVM. Reading its size costs a tenth of reading its mappings.
    fn find_jvm(&mut self, key: ProcessKey, host: &JvmHost) -> io::Result<Option<Jvm>> {
        let size = host.mapped_pages(key.pid);
        if size.is_some() && self.sizes.get(&key) == size.as_ref() {
            return Ok(None);
        }
        let found = Jvm::find(host, key.pid)?;
        match size.filter(|_| found.is_none()) {
            Some(size) => self.sizes.insert(key, size),
            None => self.sizes.remove(&key),
        };
        Ok(found)
    }
}

fn see(jvm: &mut Jvm, host: &JvmHost) -> io::Result<SeenJvm> {
    Ok(SeenJvm {
        heap: jvm.heap()?,
        mapped_again_bytes: jvm.mapped_again_bytes()?,
        control: jvm.control(host),
    })
}

#[cfg(test)]
mod tests;
