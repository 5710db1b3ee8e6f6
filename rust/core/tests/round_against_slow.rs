//! The screened round in fixed point against a round that evaluates the policy for each application.

// Test helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

mod reference;

use elastane_core::by_plan::{ByPlan, PlanScore, Power, Shares};
use elastane_core::cluster::{
    Application, ApplicationId, Basis, Commit, CommitRequest, KeptNode, Naming, NodeId, Offer,
    Predicted, Request, WaitReason,
};
use elastane_core::fit::{Excess, Peaks};
use elastane_core::policy::{Candidate, Place, Policy};
use elastane_core::{Cluster, ClusterSettings, ContainerKind, Demand, Resources};
use proptest::prelude::*;

use reference::events::{Event, GB, Submission, event, submission};
use reference::segments::Plain;

/// The screened round, without planned starts, which the other one does not make.
struct Quick(Plain);

impl Policy for Quick {
    fn name(&self) -> &'static str {
        "quick"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        self.0.fits(place, candidate)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        self.0.score(place, candidate)
    }

    fn peaks(&self) -> Peaks {
        self.0.peaks
    }

    fn by_plan(&self) -> Option<ByPlan> {
        Some(ByPlan { peaks: self.0.peaks, score: self.0.score, planned_ahead: 0 })
    }
}

/// A cluster and the containers and applications reported to it.
struct Told {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    applications: Vec<ApplicationId>,
    containers: usize,
    now_ms: i64,
}

const FREE: Request = Request { memory_bytes: 7 * GB, vcores: 5 };

impl Told {
    fn new(policy: Box<dyn Policy>, nodes: usize) -> Self {
        let settings = ClusterSettings {
            enforce: true,
            virtual_cores_count: true,
            max_ratio: 2.0,
            fresh_for_ms: i64::MAX,
            grow_every_ms: 3_000,
            starvation_wait_ms: 60_000,
        };
        let mut cluster = Cluster::new(settings, policy);
        let nodes = (0..nodes).map(|number| {
            let registered = Request { memory_bytes: 16 * GB, vcores: 16 };
            let node = cluster.node_added(&format!("node-{number}:1"), registered);
            // The second node is smaller, so that demands are capped, and its disk is unknown.
            let physical = match number {
                1 => Resources::from_array([2.0, 16e9, 4e6, 0.0]),
                _ => Resources::from_array([8.0, 16e9, 1e7, 1e7]),
            };
            cluster.reported(node, physical, 0);
            node
        });
        let nodes = nodes.collect();
        cluster.raise_to_ceiling(0);
        Self { cluster, nodes, applications: Vec::new(), containers: 0, now_ms: 1_000_000_500 }
    }

    fn node(&self, number: usize) -> NodeId {
        self.nodes[number % self.nodes.len()]
    }

    fn application(&self, number: usize) -> Option<ApplicationId> {
        let count = self.applications.len();
        (count > 0).then(|| self.applications[number % count])
    }

    fn submit(&mut self, submission: &Submission) {
        let predicted = |demand: &Option<Demand>| {
            demand.clone().map(|demand| {
                Predicted::of(demand, submission.margin, Basis::Profile("profile".into()))
            })
        };
        let demands = [
            (ContainerKind::ApplicationMaster, &submission.master_demand),
            (ContainerKind::DEFAULT_EXECUTOR, &submission.demand),
        ];
        let known = |(kind, demand)| Some((kind, predicted(demand)?));
        let demands = demands.into_iter().filter_map(known).collect();
        let queue = format!("root.{}", submission.queue);
        let deadline_ms = submission.due_in_ms.map(|due_in_ms| self.now_ms + due_in_ms);
        let application = Application::new("id", "name", &queue, demands, self.now_ms);
        let application = application.due_by(deadline_ms);
        let id = self.cluster.application_added(application);
        self.cluster.pending(id, submission.ask, self.now_ms);
        self.applications.push(id);
    }

    fn commit(&mut self, id: ApplicationId, node: NodeId, age_ms: Option<i64>) -> Option<Commit> {
        let ask = self.cluster.application(id)?.waiting?;
        let container = format!("container-{}", self.containers);
        let commit = CommitRequest {
            container: &container,
            application: id,
            node,
            kind: ask.kind,
            request: ask.request,
            may_refuse: age_ms.is_none(),
            start_ms: self.now_ms - age_ms.unwrap_or(0),
        };
        let commit = self.cluster.commit(commit, self.now_ms);
        self.containers += usize::from(matches!(commit, Commit::Placed(_)));
        Some(commit)
    }

    /// Applies an event. Returns the answer, which must be equal in both clusters.
    fn take(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Submitted(submission) => self.submit(submission),
            Event::Asks { application, ask } => {
                let id = self.application(*application)?;
                self.cluster.pending(id, *ask, self.now_ms);
            }
            Event::Moved { application, queue } => {
                let id = self.application(*application)?;
                self.cluster.application_moved(id, &format!("root.{queue}"));
            }
            Event::Removed { application } => {
                let id = self.application(*application)?;
                self.cluster.application_removed(id);
            }
            Event::Committed { node } => {
                let node = self.node(*node);
                let best = *self.cluster.round(node, FREE, self.now_ms)?.first()?;
                return Some(in_words(&self.commit(best, node, None)?));
            }
            Event::Told { application, node, age_ms } => {
                let (id, node) = (self.application(*application)?, self.node(*node));
                return Some(in_words(&self.commit(id, node, Some(*age_ms))?));
            }
            Event::Skipped { node, count } => {
                let node = self.node(*node);
                let named = self.cluster.round(node, FREE, self.now_ms)?;
                let first = &named[..named.len().min(*count)];
                self.cluster.skipped(node, first, self.now_ms);
            }
            Event::AsksBeside { application, amount, standing } => {
                let id = self.application(*application)?;
                self.cluster.set_standing(id, &[*amount], *standing);
                let it = self.cluster.application(id)?;
                let ask = it.waiting.or(it.held)?;
                self.cluster.pending(id, ask, self.now_ms);
            }
            Event::Finished { container } => {
                let number = container % self.containers.max(1);
                self.cluster.finished(&format!("container-{number}"));
            }
            Event::Measured { container, memory_bytes } => {
                let number = container % self.containers.max(1);
                let container = format!("container-{number}");
                self.cluster.measured_memory(&container, *memory_bytes);
            }
            Event::Resized { node, memory_gb } => {
                let registered = Request { memory_bytes: memory_gb * GB, vcores: 16 };
                self.cluster.node_resized(self.node(*node), registered);
            }
            Event::Passed { ms } => self.now_ms += ms,
            Event::PutBack { ms } => self.now_ms -= ms,
        }
        None
    }

    fn rounds(&mut self, naming: Naming) -> Vec<Option<Vec<ApplicationId>>> {
        let (nodes, now_ms) = (self.nodes.clone(), self.now_ms);
        let offer =
            |node| Offer { node, free: FREE, free_countables: &[1], at_user_limit: &[], naming };
        let round = |node| self.cluster.offer(offer(node), now_ms);
        nodes.into_iter().map(round).collect()
    }

    /// Why each application waits, with the excess reduced to its presence.
    fn wait_reasons(&mut self) -> Vec<String> {
        let (applications, now_ms) = (self.applications.clone(), self.now_ms);
        let held = |id| match self.cluster.wait_reason(id, now_ms) {
            Some(WaitReason::NoFit { node, resource, excess }) => {
                format!("{node:?} {resource:?} {}", excess.is_some())
            }
            other => format!("{other:?}"),
        };
        applications.into_iter().map(held).collect()
    }
}

fn in_words(commit: &Commit) -> String {
    match commit {
        Commit::Placed(placement) => {
            format!("{:?} {:?} {:.6?}", placement.reason, placement.container, placement.score)
        }
        other => format!("{other:.3?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn lists_the_applications_that_the_policy_would_list(
        peaks in prop::sample::select(vec![Peaks::Strict, Peaks::Soft]),
        score in prop::sample::select(vec![
            PlanScore::Remaining(Shares::Largest),
            PlanScore::Remaining(Shares::Sum),
            PlanScore::Waiting(Power::Zero),
            PlanScore::Waiting(Power::Half),
        ]),
        nodes in 1_usize..4,
        first in prop::collection::vec(submission(), 0..40),
        events in prop::collection::vec(event(), 1..40),
    ) {
        let mut quick = Told::new(Box::new(Quick(Plain { peaks, score })), nodes);
        let mut slow = Told::new(Box::new(Plain { peaks, score }), nodes);
        let events = first.into_iter().map(Event::Submitted).chain(events);
        for (number, event) in events.enumerate() {
            prop_assert_eq!(quick.take(&event), slow.take(&event), "event {}", number);
            for naming in [Naming::Best, Naming::Rest, Naming::Fitting] {
                let named = (quick.rounds(naming), slow.rounds(naming));
                prop_assert_eq!(named.0, named.1, "{:?} after event {}", naming, number);
            }
            prop_assert_eq!(quick.wait_reasons(), slow.wait_reasons(), "after event {}", number);
            let kept = (KeptNode::of(&quick.cluster), KeptNode::of(&slow.cluster));
            prop_assert_eq!(kept.0, kept.1, "after event {}", number);
        }
    }
}
