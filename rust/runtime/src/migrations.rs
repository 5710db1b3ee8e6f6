//! Executors that are told to leave: they take no more tasks, move their blocks to others and end by themselves, and their
//! application asks for another one, which is placed by plan.
//!
//! The agent of the node sends the signal, if the executor handles it. Whoever wants an executor to leave asks again with each
//! report until the agent tells that it was signalled, since a reply can be lost, and a young executor may not handle it yet.

use std::collections::BTreeMap;

use elastane_core::cluster::{ApplicationId, Cluster, Container, NodeId};
use elastane_protocol::{DecommissionOutcome, Decommissioned};

use crate::journal::{JournalEvent, Migration, MigrationCause, MigrationState, Record};
use crate::yarn_ids::application_id;

/// An executor handles the signal before it has reached its driver, and then loses the handler.
const OLD_ENOUGH_MS: i64 = 30_000;
/// How long an executor that was signalled may take to end by itself. Spark looks for blocks once more after
/// `spark.storage.decommission.replicationReattemptInterval`, 30 s by default.
const LEAVES_WITHIN_MS: i64 = 60_000;
/// One that was signalled and has a long task lets others of its application leave after this time.
const OTHERS_WAIT_MS: i64 = 300_000;
/// An executor without blocks is gone within a second of the signal. Its agent tells the outcome after its end.
const TELLS_WITHIN_MS: i64 = 180_000;

/// The containers whose executors were to leave, until they have ended and their agent has told the outcome.
#[derive(Default)]
pub(crate) struct Migrations {
    asked: BTreeMap<String, Asked>,
}

struct Asked {
    node: NodeId,
    application: ApplicationId,
    cause: MigrationCause,
    reason: String,
    /// Since when it was asked again and again.
    asked_ms: i64,
    latest_ms: i64,
    outcome: Option<DecommissionOutcome>,
    /// Whether it was asked anew after an outcome.
    is_asked_anew: bool,
    signalled_ms: Option<i64>,
    ended_ms: Option<i64>,
}

impl Migrations {
    /// Asks that an executor leaves. Gives whether its agent is to be told: not if it may not leave now, or was signalled
    /// already.
    pub(crate) fn ask(
        &mut self,
        cluster: &Cluster,
        container: &str,
        cause: MigrationCause,
        reason: &str,
        now_ms: i64,
    ) -> bool {
        let Some(known) = cluster.container(container) else {
            return false;
        };
        let is_young = now_ms.saturating_sub(known.start_ms) < OLD_ENOUGH_MS;
        let open_for_ms = cluster.settings().fresh_for_ms;
        let waits_for = |(id, other): (&String, &Asked)| {
            let is_another_of_it = other.application == known.application && *id != container;
            is_another_of_it && other.holds_others(open_for_ms, now_ms)
        };
        // The other executors of the application take its blocks.
        if known.kind.is_application_master() || is_young || self.asked.iter().any(waits_for) {
            return false;
        }
        let asked = self.asked.entry(container.to_owned());
        let asked = asked.or_insert_with(|| Asked::new(known, now_ms));
        if asked.signalled_ms.is_none() {
            asked.cause = cause;
            reason.clone_into(&mut asked.reason);
        }
        if now_ms.saturating_sub(asked.latest_ms) > open_for_ms {
            asked.asked_ms = now_ms;
            asked.is_asked_anew = asked.outcome.is_some();
        }
        asked.latest_ms = now_ms;
        asked.signalled_ms.is_none()
    }

    /// Takes what the agent of a node tells of its executors; gives records for the journal.
    pub(crate) fn reported(
        &mut self,
        cluster: &Cluster,
        node: NodeId,
        outcomes: &[Decommissioned],
        now_ms: i64,
    ) -> Vec<Record> {
        let mut records = Vec::new();
        for Decommissioned { container, outcome } in outcomes {
            if let Some(asked) = self.asked.get_mut(container) {
                if asked.tells(*outcome, now_ms) {
                    records.push(record(cluster, container, asked, *outcome, now_ms));
                }
            } else if let Some(known) = cluster.container(container).filter(|it| it.node == node)
                && *outcome == DecommissionOutcome::Signalled
            {
                // A core that was opened since the signal has not asked. The journal has the record of the former one.
                let mut asked = Asked::new(known, now_ms);
                asked.tells(*outcome, now_ms);
                self.asked.insert(container.clone(), asked);
            }
        }
        self.asked.retain(|_, asked| asked.is_open(now_ms));
        records
    }

    /// Until when a container may run that has to give way at `due_ms`: longer if its executor leaves.
    pub(crate) fn until_ms(&self, cluster: &Cluster, container: &str, due_ms: i64) -> i64 {
        let open_for_ms = cluster.settings().fresh_for_ms;
        let leaves_ms = self.asked.get(container).map(|asked| match asked.signalled_ms {
            Some(signalled_ms) => signalled_ms.saturating_add(LEAVES_WITHIN_MS),
            None if asked.outcome.is_none() => asked.asked_ms.saturating_add(open_for_ms),
            None => due_ms,
        });
        leaves_ms.map_or(due_ms, |leaves_ms| leaves_ms.max(due_ms))
    }

    /// Whether an executor was signalled and is expected to end soon.
    pub(crate) fn leaves(&self, container: &str, now_ms: i64) -> bool {
        self.asked.get(container).is_some_and(|asked| asked.leaves_within(LEAVES_WITHIN_MS, now_ms))
    }

    /// Whether an executor of a node was signalled and is expected to end soon.
    pub(crate) fn any_leaves(&self, node: NodeId, now_ms: i64) -> bool {
        let mut all = self.asked.values();
        all.any(|asked| asked.node == node && asked.leaves_within(LEAVES_WITHIN_MS, now_ms))
    }

    /// The container of a node whose executor leaves, or was asked to leave and whose agent has not told the outcome yet.
    pub(crate) fn in_progress(&self, node: NodeId, open_for_ms: i64, now_ms: i64) -> Option<&str> {
        let is_there =
            |asked: &Asked| asked.node == node && asked.holds_others(open_for_ms, now_ms);
        let mut on_node = self.asked.iter().filter(|(_, asked)| is_there(asked));
        on_node.next().map(|(container, _)| container.as_str())
    }

    /// When a container was asked for the last time.
    pub(crate) fn latest_ms(&self, container: &str) -> Option<i64> {
        self.asked.get(container).map(|asked| asked.latest_ms)
    }

    /// A container ended.
    pub(crate) fn finished(&mut self, container: &str, now_ms: i64) {
        if let Some(asked) = self.asked.get_mut(container) {
            asked.ended_ms = Some(now_ms);
        }
    }

    /// A node and its containers are gone from the cluster.
    pub(crate) fn node_removed(&mut self, node: NodeId) {
        self.asked.retain(|_, asked| asked.node != node);
    }
}

impl Asked {
    fn new(container: &Container, now_ms: i64) -> Self {
        Self {
            node: container.node,
            application: container.application,
            cause: MigrationCause::default(),
            reason: String::new(),
            asked_ms: now_ms,
            latest_ms: now_ms,
            outcome: None,
            is_asked_anew: false,
            signalled_ms: None,
            ended_ms: None,
        }
    }

    /// Its agent tells the outcome; gives whether that is news.
    fn tells(&mut self, outcome: DecommissionOutcome, now_ms: i64) -> bool {
        if outcome == DecommissionOutcome::Signalled {
            self.signalled_ms.get_or_insert(now_ms);
        }
        self.outcome.replace(outcome) != Some(outcome)
    }

    fn is_open(&self, now_ms: i64) -> bool {
        let Some(ended_ms) = self.ended_ms else {
            return true;
        };
        self.outcome.is_none() && now_ms.saturating_sub(ended_ms) < TELLS_WITHIN_MS
    }

    /// Whether other executors of its application, or of a node that is being decommissioned, have to wait.
    fn holds_others(&self, open_for_ms: i64, now_ms: i64) -> bool {
        // The agent tells the former outcome until it has looked again, so one that was asked anew holds others for the
        // whole time.
        let is_open = (self.outcome.is_none() || self.is_asked_anew) && self.ended_ms.is_none();
        let was_asked = now_ms.saturating_sub(self.asked_ms) < open_for_ms;
        self.leaves_within(OTHERS_WAIT_MS, now_ms) || is_open && was_asked
    }

    fn leaves_within(&self, most_ms: i64, now_ms: i64) -> bool {
        let is_recent = |signalled_ms| now_ms.saturating_sub(signalled_ms) < most_ms;
        self.ended_ms.is_none() && self.signalled_ms.is_some_and(is_recent)
    }
}

fn record(
    cluster: &Cluster,
    container: &str,
    asked: &Asked,
    outcome: DecommissionOutcome,
    now_ms: i64,
) -> Record {
    let node = cluster.node(asked.node).map(|node| node.name.clone());
    let migration = Migration {
        node: node.unwrap_or_default(),
        container: container.to_owned(),
        application: application_id(cluster, asked.application, container),
        state: match outcome {
            DecommissionOutcome::Signalled => MigrationState::Leaves,
            DecommissionOutcome::NotHandled => MigrationState::NotHandled,
            DecommissionOutcome::NoExecutor => MigrationState::NoExecutor,
            DecommissionOutcome::Failed => MigrationState::Failed,
        },
        cause: asked.cause,
        reason: asked.reason.clone(),
    };
    let event = JournalEvent::Migration(Box::new(migration));
    Record::about(cluster, asked.application, event, now_ms)
}
