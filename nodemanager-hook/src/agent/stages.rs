//! How far the applications of containers have come, as they tell in files. The files are read on threads of their own, since a
//! job can hold up whoever reads in its directory.

use std::{
    collections::BTreeMap,
    io,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use elastane_protocol::StageProgress;

use super::container::Containers;
use crate::{
    container_id::ContainerId,
    sensors::{ProcessKey, is_gone},
    spark::ProgressFile,
    troubles::Troubles,
    workers::Workers,
};

/// Containers beyond this number are looked at with a later sample.
const MOST_LOOKS: usize = 1_000;
/// Most containers have no such file, and one that has none yet will have it soon enough.
const AGAIN_AFTER: Duration = Duration::from_secs(15);
/// What was written longer ago is told no more: the job writes no more, or the thread that reads hangs.
const TOLD_FOR: Duration = Duration::from_secs(30);
const TROUBLE: &str = "progress files not read";

#[derive(Debug)]
pub(super) struct ToldStages {
    /// None if the threads could not be started.
    readers: Option<Workers<Look, Looked>>,
    containers: BTreeMap<ContainerId, Followed>,
    troubles: Troubles,
}

#[derive(Debug)]
struct Followed {
    /// A container that starts anew may have the same id.
    root: ProcessKey,
    next: Next,
    /// As of the moment of the writing.
    latest: Option<(StageProgress, Instant)>,
}

#[derive(Debug)]
enum Next {
    /// A thread looks, since this time.
    Looking(Instant),
    /// The directory that has a file is kept open.
    With(Option<ProgressFile>, Instant),
}

#[derive(Debug)]
struct Look {
    id: ContainerId,
    root: ProcessKey,
    file: Option<ProgressFile>,
}

#[derive(Debug)]
struct Looked {
    look: Look,
    /// With the moment of the writing.
    told: io::Result<Option<(StageProgress, Instant)>>,
}

impl ToldStages {
    pub fn open(proc: &Path, troubles: Troubles) -> Self {
        let proc = proc.to_path_buf();
        let readers = Workers::start("progress", MOST_LOOKS, move |look| look_at(&proc, look));
        let readers = troubles.check(TROUBLE, readers);
        Self { readers, containers: BTreeMap::new(), troubles }
    }

    /// Takes what the threads have read by now, and lets them read again.
    pub fn step(&mut self, containers: &Containers, now: Instant) {
        let Some(readers) = &self.readers else {
            return;
        };
        let root_of = |id: &ContainerId| containers.get(id).and_then(|container| container.root);
        self.containers.retain(|id, followed| root_of(id) == Some(followed.root));
        for looked in readers.collect_all(Duration::ZERO) {
            if let Some(followed) = self.containers.get_mut(&looked.look.id)
                && followed.root == looked.look.root
            {
                followed.take(looked, &self.troubles, now);
            }
        }
        let hangs =
            |one: &Followed| matches!(one.next, Next::Looking(since) if now - since >= TOLD_FOR);
        if self.containers.values().any(hangs) {
            self.troubles.warn(TROUBLE, "a job holds up who reads its file");
        }
        for (id, root) in containers.iter().filter_map(|(id, one)| Some((id, one.root?))) {
            if let Some(followed) = self.containers.get_mut(id) {
                followed.look(id, readers, now);
            } else {
                let next = Next::With(None, now);
                let mut followed = Followed { root, next, latest: None };
                followed.look(id, readers, now);
                self.containers.insert(id.clone(), followed);
            }
        }
    }

    /// For the report at `now`.
    pub fn of(&self, id: &ContainerId, now: Instant) -> Option<StageProgress> {
        let (stages, at) = self.containers.get(id)?.latest?;
        let since = now.saturating_duration_since(at);
        let since_ms = u32::try_from(since.as_millis()).unwrap_or(u32::MAX);
        let since_ms = stages.since_ms.saturating_add(since_ms);
        (since < TOLD_FOR).then_some(StageProgress { since_ms, ..stages })
    }
}

impl Followed {
    fn take(&mut self, looked: Looked, troubles: &Troubles, now: Instant) {
        let Looked { look, told } = looked;
        let told = match told {
            Err(error) if is_gone(&error) => None,
            told => troubles.check_of(TROUBLE, &look.id, told).flatten(),
        };
        self.next = match told {
            Some(_) => Next::With(look.file, now),
            None => Next::With(None, now + AGAIN_AFTER),
        };
        self.latest = told;
    }

    fn look(&mut self, id: &ContainerId, readers: &Workers<Look, Looked>, now: Instant) {
        let Next::With(file, due) = &mut self.next else {
            return;
        };
        if *due > now {
            return;
        }
        let look = Look { id: id.clone(), root: self.root, file: file.take() };
        // With a full queue the next sample is soon enough.
        if readers.submit(look).is_ok() {
            self.next = Next::Looking(now);
        }
    }
}

fn look_at(proc: &Path, mut look: Look) -> Looked {
    let told = told(proc, &mut look);
    if !matches!(told, Ok(Some(_))) {
        // Otherwise the directories of all containers without a file stay open until the next sample.
        look.file = None;
    }
    Looked { look, told }
}

fn told(proc: &Path, look: &mut Look) -> io::Result<Option<(StageProgress, Instant)>> {
    let file = match look.file.take() {
        Some(file) => file,
        None => ProgressFile::of(proc, look.root)?,
    };
    let told = file.read(SystemTime::now());
    look.file = Some(file);
    // The answer is taken with a later sample.
    let read = Instant::now();
    Ok(told?.map(|told| (told.stages, read.checked_sub(told.age).unwrap_or(read))))
}
