//! What people ask about the latest decisions, one node, some containers or applications, the cluster's plan, or
//! profiles.

mod container;
mod history;
mod limits;
mod node;
mod plan;
mod planned_series;
mod predicted_ends;
mod profiles;

use serde::{Deserialize, Serialize};

use crate::adviser::{Adviser, LatestAdvice};
use crate::decisions::{Decisions, FoundDecisions, WantedDecisions};
use crate::depository::DepositoryThread;
use crate::latest_reports::LatestReports;
use crate::past::PastSnapshot;
use crate::service_lock::ServiceLock;
use container::{ContainerDetails, ContainerSnapshot};
use node::{NodeDetails, NodeSnapshot};
use plan::ClusterPlan;
use predicted_ends::PredictedEnds;
use profiles::{FoundProfiles, WantedProfiles};

/// Containers that are copied before a heartbeat gets its turn.
const AT_ONCE: usize = 50;

/// A question, as JSON has it.
#[derive(Debug, Deserialize)]
#[serde(tag = "about", rename_all = "kebab-case")]
pub(crate) enum Question {
    /// The latest decisions.
    Decisions(WantedDecisions),
    /// One node and its containers, by YARN's name.
    Node { node: String },
    /// Containers, by YARN's ids. Of those that do not run the answer says nothing.
    Containers { containers: Vec<String> },
    /// When running applications are expected to end, by YARN's ids. Where no end is predicted, the answer says
    /// nothing.
    PredictedEnds { applications: Vec<String> },
    /// All nodes together, or those with a label.
    Plan { label: Option<String> },
    /// What mode `enforce` would have made of what happened.
    Advice,
    /// Profiles in memory.
    Profiles(WantedProfiles),
}

/// Where the answers come from.
pub(crate) struct Sources<'a> {
    pub(crate) service: &'a ServiceLock,
    pub(crate) decisions: &'a Decisions,
    pub(crate) reports: &'a LatestReports,
    pub(crate) depository: &'a DepositoryThread,
    pub(crate) adviser: &'a Adviser,
}

impl Question {
    /// Plain data is copied under the service's lock; what is computed of it is computed without.
    pub(crate) fn answer(&self, sources: &Sources<'_>, now_ms: i64) -> Answer {
        let Sources { service, decisions, reports, depository, adviser } = *sources;
        match self {
            Self::Decisions(wanted) => Answer::Decisions(decisions.find(wanted)),
            Self::Node { node } => {
                let snapshot = NodeSnapshot::take(&service.lock(), node, now_ms);
                Answer::Node(snapshot.map(|it| Box::new(it.into_details(reports, now_ms))))
            }
            Self::Containers { containers } => {
                let mut snapshots = Vec::new();
                for some in containers.chunks(AT_ONCE) {
                    snapshots.extend(ContainerSnapshot::take_all(&service.lock(), some, now_ms));
                }
                let containers = ContainerSnapshot::all_details(snapshots, reports, now_ms);
                Answer::Containers { containers }
            }
            Self::PredictedEnds { applications } => {
                Answer::PredictedEnds(PredictedEnds::of(applications, service, depository, now_ms))
            }
            Self::Plan { label } => {
                Answer::Plan(ClusterPlan::of(service, label.as_deref(), now_ms))
            }
            Self::Advice => {
                let is_recording = service.lock().kept().settings.advises.anywhere;
                let past = || {
                    let snapshot = PastSnapshot::begin(&service.lock(), now_ms)?;
                    Some(snapshot.complete(service, depository))
                };
                Answer::Advice(adviser.ask(past, is_recording))
            }
            Self::Profiles(wanted) => Answer::Profiles(wanted.find(depository)),
        }
    }
}

/// The answer, as JSON has it. Null for a node that is not known.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
    Decisions(FoundDecisions),
    Node(Option<Box<NodeDetails>>),
    Containers { containers: Vec<ContainerDetails> },
    PredictedEnds(PredictedEnds),
    Plan(ClusterPlan),
    Advice(LatestAdvice),
    Profiles(FoundProfiles),
}
