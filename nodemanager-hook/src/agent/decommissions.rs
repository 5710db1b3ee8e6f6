//! Orders to decommission the executors of containers. Each is carried out by a thread of its own, since a job can hold up
//! whoever looks at its processes.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, TryRecvError},
    thread,
    time::{Duration, Instant},
};

use elastane_protocol::{DecommissionOutcome, Decommissioned};
use serde_json::json;

use super::{
    container::{Containers, NodeContainer, named},
    host::Host,
};
use crate::{
    audit::Reason, container_id::ContainerId, sensors::ProcessKey, spark, troubles::Troubles,
};

/// A look takes some milliseconds.
const HELD_UP_FROM: Duration = Duration::from_secs(10);
/// An executor that is young does not handle the signal yet.
const AGAIN_AFTER: Duration = Duration::from_secs(10);
/// The ResourceManager is told what became of an executor even if that has ended since: some reports have it, which come
/// once a minute at least.
const TOLD_AFTER_END: Duration = Duration::from_secs(180);
/// Threads at a time, those that are held up included: they end with the processes that hold them up.
const MOST_THREADS: usize = 4;

#[derive(Debug)]
pub(super) struct Decommissions {
    proc: PathBuf,
    ordered: BTreeMap<ContainerId, Ordered>,
    troubles: Troubles,
}

#[derive(Debug)]
struct Ordered {
    /// A container that starts anew may have the same id.
    root: Option<ProcessKey>,
    begun: Instant,
    thread: Option<Receiver<DecommissionOutcome>>,
    outcome: Option<DecommissionOutcome>,
    ended: Option<Instant>,
}

impl Decommissions {
    pub fn new(proc: &Path, troubles: Troubles) -> Self {
        Self { proc: proc.into(), ordered: BTreeMap::new(), troubles }
    }

    /// Begins to carry out the orders. Whoever got the signal gets no other; the rest is looked at again after some time.
    pub fn order(&mut self, ids: &[String], containers: &Containers, now: Instant) {
        for (id, container) in ids.iter().filter_map(|id| named(containers, id)) {
            let former = self.ordered.get(id);
            if former.is_none_or(|ordered| ordered.is_due(now)) {
                // The id of one that ended is that of a container that started anew.
                let former = former.filter(|ordered| ordered.ended.is_none());
                let outcome = former.and_then(|ordered| ordered.outcome);
                let ordered = self.begin(container, outcome, now);
                self.ordered.insert(id.clone(), ordered);
            }
        }
    }

    fn begin(
        &self,
        container: &NodeContainer,
        outcome: Option<DecommissionOutcome>,
        now: Instant,
    ) -> Ordered {
        let open = self.ordered.values().filter(|ordered| ordered.thread.is_some()).count();
        let begun = match open < MOST_THREADS {
            true => begin(self.proc.clone(), container.sensor.processes.iter().collect()),
            false => Err(io::Error::other("too many processes hold up who looks at them")),
        };
        let thread = self.troubles.check("executors not decommissioned", begun);
        let outcome = if thread.is_some() { outcome } else { Some(DecommissionOutcome::Failed) };
        Ordered { root: container.root, begun: now, thread, outcome, ended: None }
    }

    /// Takes the outcomes that are known by now, and forgets containers that ended some time ago.
    pub fn step(&mut self, host: &mut Host, now: Instant) {
        for (id, ordered) in &mut self.ordered {
            let container = host.containers.get(id);
            if container.is_none_or(|container| container.root != ordered.root) {
                ordered.ended.get_or_insert(now);
            }
            if let Some(outcome) = ordered.take(now)
                && ordered.outcome.replace(outcome) != Some(outcome)
            {
                log::info!("{id}: order to decommission its executor: {outcome:?}");
                let event = json!({ "outcome": outcome });
                host.actuator.audit.record(id, Reason::DecommissionOrdered, event);
            }
        }
        let is_told = |ended| now.saturating_duration_since(ended) >= TOLD_AFTER_END;
        let is_over =
            |ordered: &Ordered| ordered.thread.is_none() && ordered.ended.is_some_and(is_told);
        self.ordered.retain(|_, ordered| !is_over(ordered));
    }

    /// The outcomes for the report.
    pub fn outcomes(&self) -> Vec<Decommissioned> {
        let known = self.ordered.iter().filter_map(|(id, ordered)| Some((id, ordered.outcome?)));
        known.map(|(id, outcome)| Decommissioned { container: id.to_string(), outcome }).collect()
    }
}

impl Ordered {
    fn is_due(&self, now: Instant) -> bool {
        let may_get_it = self.outcome != Some(DecommissionOutcome::Signalled);
        let is_later = now.saturating_duration_since(self.begun) >= AGAIN_AFTER;
        self.thread.is_none() && (self.ended.is_some() || may_get_it && is_later)
    }

    /// The outcome, once it is known. A thread that is held up is a failure, and may tell another outcome later.
    fn take(&mut self, now: Instant) -> Option<DecommissionOutcome> {
        match self.thread.as_ref()?.try_recv() {
            Ok(outcome) => {
                self.thread = None;
                Some(outcome)
            }
            Err(TryRecvError::Empty) => {
                let is_held_up = now.saturating_duration_since(self.begun) >= HELD_UP_FROM;
                is_held_up.then_some(DecommissionOutcome::Failed)
            }
            Err(TryRecvError::Disconnected) => {
                self.thread = None;
                Some(DecommissionOutcome::Failed)
            }
        }
    }
}

fn begin(proc: PathBuf, processes: Vec<ProcessKey>) -> io::Result<Receiver<DecommissionOutcome>> {
    let (sender, outcome) = mpsc::channel();
    let thread = thread::Builder::new().name("decommission".into());
    thread.spawn(move || sender.send(spark::decommission(&proc, &processes)))?;
    Ok(outcome)
}
