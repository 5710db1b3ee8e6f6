//! What a ResourceManager tells the core: nodes, applications, containers, their reports and ends.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use elastane_core::cluster::{ApplicationId, Ask, CommitRequest, Request};
use elastane_predict::{ContainerKind, Submission};
use elastane_runtime::{Elastane, RuntimeSettings};
use serde::Deserialize;

use crate::agents::{NODE, Node};
use crate::{Outcome, learned};

/// Between two reports of a node. Agents report each 3 s; the samples of a longer time take as much memory.
pub const ROUND_MS: i64 = 15_000;
/// How long an application runs.
pub const LIFE_ROUNDS: usize = 120;
pub const BEGIN_MS: i64 = 1_800_000_000_000;

/// With its application master.
const CONTAINERS_EACH: usize = 40;
const WAITING: usize = 1_000;
/// The nodes that have a heartbeat with free resources in a round.
const OFFERED: usize = 100;
/// The longest wait for the depository's thread.
const PATIENCE: Duration = Duration::from_secs(600);
const PREFIX: &str = "yarn.scheduler.elastane.";
const ASK: Request = Request { memory_bytes: 2 << 30, vcores: 1 };

pub struct Scene {
    elastane: Elastane,
    nodes: Vec<Node>,
    /// Oldest first.
    running: VecDeque<Running>,
    profiles: usize,
    now_ms: i64,
    rounds: u64,
    submitted: usize,
}

/// The part of the status that is read: all of it as JSON values would take more memory than what is measured.
#[derive(Deserialize)]
struct Depository {
    profiles: u64,
    learner_alive: bool,
    learner_backlog: u64,
}

struct Running {
    application: ApplicationId,
    /// The index of each container's node.
    nodes: Vec<usize>,
    number: usize,
}

impl Scene {
    /// With every profile in memory.
    pub fn open(folder: &Path, profiles: usize) -> Outcome<Self> {
        let path = |name: &str| folder.join(name).display().to_string();
        let configuration = BTreeMap::from([
            (format!("{PREFIX}mode"), "enforce".to_owned()),
            (format!("{PREFIX}report.missed"), "100".to_owned()),
            (format!("{PREFIX}depository.file"), learned::file(folder).display().to_string()),
            (format!("{PREFIX}journal.file"), path("decisions.jsonl")),
        ]);
        let elastane = Elastane::open(RuntimeSettings::from_configuration(&configuration, true)?)?;
        let (nodes, running) = Default::default();
        let now_ms = BEGIN_MS;
        let scene = Self { elastane, nodes, running, profiles, now_ms, rounds: 0, submitted: 0 };
        scene.wait(|depository| depository.profiles >= profiles as u64)?;
        Ok(scene)
    }

    /// Nodes register; applications of known names start all their containers, and others wait.
    pub fn fill(&mut self, nodes: usize, containers: usize) -> Outcome<()> {
        for number in 0..nodes {
            let name = format!("worker-{number:05}.cluster.example.com:45454");
            let id = self.elastane.node_added(&name, NODE);
            self.nodes.push(Node { name, id, containers: Vec::new() });
        }
        self.report()?;
        for first in (0..containers).step_by(CONTAINERS_EACH) {
            let number = self.submitted;
            let others = nodes.saturating_sub(1).max(1);
            let places = (first..first + CONTAINERS_EACH).map(|place| place % others).collect();
            self.start(&format!("job-{}", number % self.profiles), places);
        }
        for number in 0..WAITING {
            let application = self.submit(&format!("job-{}", number % self.profiles));
            self.ask(application, ContainerKind::ApplicationMaster, 1);
        }
        Ok(())
    }

    /// In each round every node reports once, and the oldest applications end and others start.
    pub fn pass(&mut self, rounds: usize) -> Outcome<()> {
        let turnover = self.running.len().div_ceil(LIFE_ROUNDS);
        for _ in 0..rounds {
            self.now_ms += ROUND_MS;
            self.report()?;
            for _ in 0..turnover {
                let Some(places) = self.end_oldest() else {
                    break;
                };
                let number = self.submitted;
                self.start(&format!("job-{}", number % self.profiles), places);
            }
            self.offer();
            self.wait_saved()?;
        }
        Ok(())
    }

    /// Applications whose names never come again run one after another, with two containers each, on the node that is
    /// left to them. The containers on other nodes send no reports in this time.
    pub fn day_of_new_names(&mut self, names: usize) -> Outcome<()> {
        let step_ms = 86_400_000 / names.max(1) as i64;
        let place = self.nodes.len() - 1;
        let mut others = std::mem::take(&mut self.running);
        for number in 0..names {
            self.start(&format!("once-{}", self.submitted), vec![place; 2]);
            for _ in 0..2 {
                self.now_ms += step_ms / 2;
                self.rounds += 1;
                self.nodes[place].report(&self.elastane, self.rounds, self.now_ms)?;
            }
            self.end_oldest();
            self.elastane.bookable_changes(usize::MAX, self.now_ms);
            if number % 100 == 0 {
                self.wait_saved()?;
            }
        }
        self.running.append(&mut others);
        // Its last samples have arrived.
        self.now_ms += 60_000;
        self.elastane.bookable_changes(usize::MAX, self.now_ms);
        self.wait_saved()
    }

    pub fn close(self) {
        self.elastane.close();
    }

    fn report(&mut self) -> Outcome<()> {
        self.rounds += 1;
        let Self { elastane, nodes, rounds, now_ms, .. } = self;
        nodes.iter().try_for_each(|node| node.report(elastane, *rounds, *now_ms))
    }

    fn offer(&self) {
        let from = self.rounds as usize * OFFERED;
        for place in from..from + OFFERED {
            let node = &self.nodes[place % self.nodes.len()];
            self.elastane.round(node.id, NODE, self.now_ms);
        }
        self.elastane.bookable_changes(usize::MAX, self.now_ms);
    }

    fn submit(&mut self, name: &str) -> ApplicationId {
        let number = self.submitted;
        self.submitted += 1;
        let submission = Submission {
            id: format!("application_1800000000000_{number:06}"),
            name: name.to_owned(),
            user: String::new(),
            queue: format!("root.q{}", number % 200),
            application_type: "SPARK".to_owned(),
            tags: vec![format!("elastane.profile={name}")],
            ..Submission::default()
        };
        self.elastane.application_added(&submission, self.now_ms)
    }

    fn ask(&self, application: ApplicationId, kind: ContainerKind, count: u32) {
        let ask = Ask { kind, priority: 0, request: ASK, count };
        self.elastane.pending(application, ask, self.now_ms);
    }

    /// An application gets a container on each of these nodes.
    fn start(&mut self, name: &str, places: Vec<usize>) {
        let number = self.submitted;
        let application = self.submit(name);
        for (place, node) in places.iter().enumerate() {
            let kind = match place {
                0 => ContainerKind::ApplicationMaster,
                _ => ContainerKind::DEFAULT_EXECUTOR,
            };
            if place < 2 {
                self.ask(application, kind, (places.len() - 1).max(1) as u32);
            }
            let container = container_id(number, place);
            let node = &mut self.nodes[*node];
            let commit = CommitRequest {
                container: &container,
                application,
                node: node.id,
                kind,
                request: ASK,
                may_refuse: false,
                start_ms: self.now_ms,
            };
            self.elastane.commit(commit, self.now_ms);
            node.containers.push(container);
        }
        self.ask(application, ContainerKind::DEFAULT_EXECUTOR, 0);
        self.running.push_back(Running { application, nodes: places, number });
    }

    /// The nodes of its containers; none where nothing runs.
    fn end_oldest(&mut self) -> Option<Vec<usize>> {
        let Running { application, nodes, number } = self.running.pop_front()?;
        for (place, node) in nodes.iter().enumerate() {
            let container = container_id(number, place);
            self.elastane.finished(&container, self.now_ms);
            self.nodes[*node].containers.retain(|it| *it != container);
        }
        self.elastane.application_removed(application, true, self.now_ms);
        Some(nodes)
    }

    /// Waits until the depository's thread has done all that it was told: a ResourceManager has as much time as is simulated.
    fn wait_saved(&self) -> Outcome<()> {
        self.wait(|depository| depository.learner_backlog == 0)
    }

    fn wait(&self, is_so: impl Fn(&Depository) -> bool) -> Outcome<()> {
        let began = Instant::now();
        loop {
            let depository: Depository = serde_json::from_str(&self.elastane.status(self.now_ms))?;
            if is_so(&depository) {
                return Ok(());
            }
            if !depository.learner_alive {
                return Err("the depository's thread has ended".into());
            }
            if began.elapsed() > PATIENCE {
                return Err("the depository's thread is not done after 10 minutes".into());
            }
            thread::sleep(Duration::from_millis(200));
        }
    }
}

fn container_id(application: usize, place: usize) -> String {
    format!("container_e01_1800000000000_{application:06}_01_{place:06}")
}
