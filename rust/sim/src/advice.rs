//! What mode `enforce` would have made of what happened: the past is replayed twice, as CapacityScheduler places and as
//! Elastane does.

mod figures;
mod folded;
mod group;
mod groups;
mod occupied;
mod pool;
mod reader;
mod replay;
mod shared_work;

use elastane_runtime::PastCluster;
use serde::Serialize;

use figures::{ByApplication, ByQueue, Figures, Gain, ReplayError};
use groups::Groups;
use replay::{Replay, Scheduler};

/// Applications in the answer.
const MOST_APPLICATIONS: usize = 500;

/// A container that starts earlier by less started as before, in seconds.
const EARLIER_BY_S: f64 = 1.0;

/// The comparison.
#[derive(Debug, Clone, Serialize)]
pub struct Advice {
    /// Until when the record was read, in Unix milliseconds.
    pub as_of_ms: i64,
    /// The beginning of the record, in Unix milliseconds.
    pub since_ms: i64,
    /// Why there is nothing to compare.
    pub problem: Option<String>,
    /// Applications that are compared.
    pub applications: usize,
    /// Their containers.
    pub containers: usize,
    /// Applications that are replayed and not compared: they began before the record, or had not ended.
    pub not_compared: usize,
    /// Compared ones that had not run before. The replay plans them by what is known now: one run, which is rarely
    /// enough to plan by.
    pub first_runs: usize,
    /// Applications without a container that was measured, or with one that is too large for any node or for its
    /// queue: they are not replayed.
    pub left_out: usize,
    /// What happened.
    pub recorded: Figures,
    /// The replay as CapacityScheduler.
    pub capacity: Option<Figures>,
    /// The replay in mode `enforce`.
    pub enforce: Option<Figures>,
    /// How far the first replay is from what happened.
    pub replay_error: Option<ReplayError>,
    /// Containers that start earlier in the second replay than in the first.
    pub containers_earlier: usize,
    /// By how much these do, on average.
    pub mean_earlier_s: f64,
    /// In the order of their paths.
    pub queues: Vec<ByQueue>,
    /// Those that gain most first.
    pub by_application: Vec<ByApplication>,
    /// Applications that the list lacks.
    pub more_applications: usize,
    /// What the replays take for granted.
    pub assumptions: Vec<&'static str>,
}

const ASSUMPTIONS: [&str; 9] = [
    "Applications are submitted when they were in fact. They are planned by what is known now, which includes their \
     own run.",
    "From the start of its master to its first ask for executors, an application takes as long as it did in fact. The \
     request of its master is spread over its first executors.",
    "Executors that ran until their application ended share its work: if one starts earlier, all end earlier. Other \
     executors run as long as they did in fact.",
    "Use is what agents measured, scaled to a node that is not overloaded. The simulator's model slows down the \
     containers of an overloaded node.",
    "By memory, and by virtual cores where CapacityScheduler counts them, all queues keep their capacity and maximum \
     capacity, and leaf queues their limits of users, and of application masters in all and of each user. Not replayed: \
     weights of users, locality, reservations and preemption.",
    "Containers stay on nodes with the label of the node that they ran on. Nodes with a label that is not exclusive are \
     counted with those without a label.",
    "Every node has an agent, and mode enforce with the cluster's ceiling holds on every node and in every queue. The \
     record is compared with a replay of CapacityScheduler: if mode enforce was in use, the replay error includes its \
     effect.",
    "Each node sends one heartbeat a second, each heartbeat places one container, and the nodes are today's.",
    "Node-hours are hours in which a node had a container. For queues and applications, a node's time is divided among \
     its containers by the dominant shares of their requests; applications that are not compared have their parts, too.",
];

/// Replays what happened; an [`Advice`] as JSON.
///
/// # Errors
/// serde_json's.
pub fn advise(past: &PastCluster) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(Advice::of(past))
}

impl Advice {
    /// Replays what happened.
    pub fn of(past: &PastCluster) -> Self {
        let groups = Groups::of(past);
        let recorded = groups.recorded();
        let compared = groups.compared();
        let mut advice = Self {
            as_of_ms: past.until_ms,
            since_ms: past.since_ms,
            problem: None,
            applications: compared.len(),
            containers: recorded.containers(),
            not_compared: groups.not_compared(),
            first_runs: compared.iter().filter(|it| it.runs < 2).count(),
            left_out: groups.left_out,
            recorded: recorded.figures(),
            capacity: None,
            enforce: None,
            replay_error: None,
            containers_earlier: 0,
            mean_earlier_s: 0.0,
            queues: Vec::new(),
            by_application: Vec::new(),
            more_applications: 0,
            assumptions: ASSUMPTIONS.to_vec(),
        };
        if compared.is_empty() {
            advice.problem = Some(
                "no application began and ended since the record began, with its use measured"
                    .to_owned(),
            );
        } else {
            let replay = |scheduler| Replay::run(&groups, past, scheduler);
            match (replay(Scheduler::Capacity), replay(Scheduler::Elastane)) {
                (Ok(capacity), Ok(enforce)) => {
                    advice.compare(&groups, &recorded, &capacity, &enforce)
                }
                (Err(error), _) | (_, Err(error)) => {
                    advice.problem = Some(format!("the replay did not end: {error}"));
                }
            }
        }
        advice
    }

    fn compare(
        &mut self,
        groups: &Groups<'_>,
        recorded: &Replay,
        capacity: &Replay,
        enforce: &Replay,
    ) {
        self.replay_error = Some(ReplayError::of(&recorded.figures(), &capacity.figures()));
        self.capacity = Some(capacity.figures());
        self.enforce = Some(enforce.figures());
        let mut applications = figures::by_application(groups, recorded, capacity, enforce);
        let gain = Gain::of_all(applications.iter().map(|it| &it.gain));
        self.containers_earlier = gain.containers_earlier;
        self.mean_earlier_s = gain.mean_earlier_s;
        self.queues = figures::by_queue(&applications);
        applications.sort_by(|one, other| other.gain.saved_s().total_cmp(&one.gain.saved_s()));
        self.more_applications = applications.len().saturating_sub(MOST_APPLICATIONS);
        applications.truncate(MOST_APPLICATIONS);
        self.by_application = applications;
    }
}
