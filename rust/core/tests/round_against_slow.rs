//! The quick round in fixed point against the one that asks a policy for each application.

// Helpers of a test may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use std::sync::LazyLock;

use elastane_core::by_plan::{ByPlan, PlanScore, Power, Shares};
use elastane_core::cluster::{
    Application, ApplicationId, Ask, Commit, CommitRequest, Held, NodeId, Predicted, Request,
};
use elastane_core::fit::{Excess, Peaks};
use elastane_core::policy::{Candidate, Elastane, Favor, MinFrag, Place, Policy, Trc};
use elastane_core::{Cluster, ClusterSettings, ContainerKind, Demand, Resources};
use proptest::prelude::*;

/// A policy that is asked for each application, or not.
struct Asked<P> {
    policy: P,
    by_plan: Option<ByPlan>,
}

impl<P: Policy> Policy for Asked<P> {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn fits(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> Result<(), Excess> {
        self.policy.fits(place, candidate)
    }

    fn score(&self, place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        self.policy.score(place, candidate)
    }

    fn peaks(&self) -> Peaks {
        self.policy.peaks()
    }

    fn close_scores(&self) -> f64 {
        self.policy.close_scores()
    }

    fn by_plan(&self) -> Option<ByPlan> {
        self.by_plan
    }
}

/// Asked for each application where `quick` is not set. Room is held for nobody, which only the quick
/// way knows.
fn policy(peaks: Peaks, score: PlanScore, quick: bool) -> Box<dyn Policy> {
    let by_plan = quick.then_some(ByPlan {
        peaks,
        score,
        hold: 0,
    });
    match score {
        PlanScore::Remaining(Shares::Largest) => Box::new(Asked {
            policy: MinFrag { peaks },
            by_plan,
        }),
        PlanScore::Remaining(Shares::Sum) => Box::new(Asked {
            policy: Trc { peaks },
            by_plan,
        }),
        PlanScore::Waiting(power) => {
            let favor = match power {
                Power::Zero => Favor::Makespan,
                Power::Half => Favor::Completion,
            };
            let policy = Elastane { peaks, favor };
            Box::new(Asked { policy, by_plan })
        }
    }
}

/// What happens to a cluster; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Event {
    Submitted(Submission),
    Asks {
        application: usize,
        ask: Ask,
    },
    Moved {
        application: usize,
        queue: u8,
    },
    Removed {
        application: usize,
    },
    /// The best of a round is committed.
    Committed {
        node: usize,
    },
    /// A container that is there whatever the core says.
    Told {
        application: usize,
        node: usize,
        age_ms: i64,
    },
    Finished {
        container: usize,
    },
    Measured {
        container: usize,
        memory_bytes: f64,
    },
    Resized {
        node: usize,
        memory_gb: u64,
    },
    Passed {
        ms: i64,
    },
    PutBack {
        ms: i64,
    },
}

#[derive(Debug, Clone)]
struct Submission {
    queue: u8,
    demand: Option<Demand>,
    master_demand: Option<Demand>,
    margin: f64,
    ask: Ask,
}

const GB: u64 = 1_000_000_000;

/// Such that sums and quotients are exact, and a tie is a tie.
fn amounts() -> impl Strategy<Value = Resources> {
    let parts = (
        0_u8..12,
        0_u8..12,
        0_u8..8,
        prop_oneof![3 => Just(0_u8), 1 => 0_u8..8],
    );
    parts.prop_map(|(cpu, memory, network, disk)| {
        Resources::from_array([
            f64::from(cpu) / 4.0,
            f64::from(memory) * 5e8,
            f64::from(network) * 1e6,
            f64::from(disk) * 1e6,
        ])
    })
}

/// Series that several applications share, too long to be looked at again for each of them.
static SHARED: LazyLock<Vec<Demand>> = LazyLock::new(|| {
    let large_late = |cores: f64, from: usize| {
        let slot = |slot: usize| {
            let cores = if slot < from { 0.5 } else { cores };
            Resources::from_array([cores, 1e9, 1e6, 1e6])
        };
        let slots: Vec<_> = (0..256).map(slot).collect();
        Demand::series(3_000, &slots).unwrap()
    };
    vec![
        large_late(3.0, 100),
        large_late(4.0, 300),
        large_late(5.5, 520),
    ]
});

fn demand() -> impl Strategy<Value = Demand> {
    prop_oneof![
        6 => any_demand(),
        1 => prop::sample::select(SHARED.as_slice()),
    ]
}

fn any_demand() -> impl Strategy<Value = Demand> {
    let slot_ms = prop_oneof![6 => Just(3_000), 1 => Just(1_000), 1 => Just(4_500)];
    let slots = prop_oneof![
        3 => prop::collection::vec(amounts(), 1..6),
        1 => prop::collection::vec(amounts(), 15..22),
    ];
    (slot_ms, slots).prop_map(|(slot_ms, slots)| Demand::series(slot_ms, &slots).unwrap())
}

fn kind() -> impl Strategy<Value = ContainerKind> {
    prop_oneof![
        1 => Just(ContainerKind::ApplicationMaster),
        3 => Just(ContainerKind::DEFAULT_EXECUTOR),
        1 => Just(ContainerKind::Executor { priority: 1 }),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let often_like = prop_oneof![3 => Just((2_u64, 1_u32)), 1 => (0_u64..8, 0_u32..6)];
    (kind(), 0..2, often_like, 0_u32..4).prop_map(|(kind, priority, (memory_gb, vcores), count)| {
        Ask {
            kind,
            priority,
            request: Request {
                memory_bytes: memory_gb * GB,
                vcores,
            },
            count,
        }
    })
}

fn submission() -> impl Strategy<Value = Submission> {
    let margin = prop_oneof![Just(0.0), Just(0.25), Just(0.5)];
    let demand = || prop::option::weighted(0.8, demand());
    (0_u8..3, demand(), demand(), margin, ask()).prop_map(
        |(queue, demand, master_demand, margin, ask)| Submission {
            queue,
            demand,
            master_demand,
            margin,
            ask: Ask {
                count: ask.count + 1,
                ..ask
            },
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let any = || 0_usize..1_000;
    prop_oneof![
        6 => submission().prop_map(Event::Submitted),
        2 => (any(), ask()).prop_map(|(application, ask)| Event::Asks { application, ask }),
        1 => (any(), 0_u8..3).prop_map(|(application, queue)| Event::Moved { application, queue }),
        1 => any().prop_map(|application| Event::Removed { application }),
        6 => any().prop_map(|node| Event::Committed { node }),
        1 => (any(), any(), -4_000_i64..70_000).prop_map(|(application, node, age_ms)| {
            Event::Told { application, node, age_ms }
        }),
        2 => any().prop_map(|container| Event::Finished { container }),
        2 => (any(), 0_u8..8).prop_map(|(container, half_gb)| Event::Measured {
            container,
            memory_bytes: f64::from(half_gb) * 5e8,
        }),
        1 => (any(), 1_u64..17).prop_map(|(node, memory_gb)| Event::Resized { node, memory_gb }),
        4 => prop_oneof![0_i64..9_000, 0_i64..70_000, 0_i64..320_000].prop_map(|ms| Event::Passed { ms }),
        1 => (0_i64..9_000).prop_map(|ms| Event::PutBack { ms }),
    ]
}

/// One cluster and what it was told.
struct Told {
    cluster: Cluster,
    nodes: Vec<NodeId>,
    applications: Vec<ApplicationId>,
    containers: usize,
    now_ms: i64,
}

const FREE: Request = Request {
    memory_bytes: 7 * GB,
    vcores: 5,
};

impl Told {
    fn new(policy: Box<dyn Policy>, nodes: usize, pass_ms: i64) -> Self {
        let settings = ClusterSettings {
            enforce: true,
            virtual_cores_count: true,
            max_ratio: 2.0,
            fresh_for_ms: i64::MAX,
            starvation_wait_ms: 60_000,
            pass_ms,
        };
        let mut cluster = Cluster::new(settings, policy);
        let nodes = (0..nodes).map(|number| {
            let registered = Request {
                memory_bytes: 16 * GB,
                vcores: 16,
            };
            let node = cluster.node_added(&format!("node-{number}:1"), registered);
            // The second node is smaller, so that demands are capped, and does not know its disk.
            let physical = match number {
                1 => Resources::from_array([2.0, 16e9, 4e6, 0.0]),
                _ => Resources::from_array([8.0, 16e9, 1e7, 1e7]),
            };
            cluster.reported(node, physical, 0);
            node
        });
        let nodes = nodes.collect();
        cluster.bookable_changes(usize::MAX, 0);
        Self {
            cluster,
            nodes,
            applications: Vec::new(),
            containers: 0,
            now_ms: 1_000_000_500,
        }
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
            demand.clone().map(|demand| Predicted {
                demand,
                margin: submission.margin,
                profile: "profile".into(),
            })
        };
        let demands = [
            (ContainerKind::ApplicationMaster, &submission.master_demand),
            (ContainerKind::DEFAULT_EXECUTOR, &submission.demand),
        ];
        let known = |(kind, demand)| Some((kind, predicted(demand)?));
        let demands = demands.into_iter().filter_map(known).collect();
        let queue = format!("root.{}", submission.queue);
        let application = Application::new("id", "name", &queue, demands, self.now_ms);
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

    /// Answers that both ways have to give alike.
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
            Event::Told {
                application,
                node,
                age_ms,
            } => {
                let (id, node) = (self.application(*application)?, self.node(*node));
                return Some(in_words(&self.commit(id, node, Some(*age_ms))?));
            }
            Event::Finished { container } => {
                let number = container % self.containers.max(1);
                self.cluster.finished(&format!("container-{number}"));
            }
            Event::Measured {
                container,
                memory_bytes,
            } => {
                let number = container % self.containers.max(1);
                let container = format!("container-{number}");
                self.cluster.measured_memory(&container, *memory_bytes);
            }
            Event::Resized { node, memory_gb } => {
                let registered = Request {
                    memory_bytes: memory_gb * GB,
                    vcores: 16,
                };
                self.cluster.node_resized(self.node(*node), registered);
            }
            Event::Passed { ms } => self.now_ms += ms,
            Event::PutBack { ms } => self.now_ms -= ms,
        }
        None
    }

    fn rounds(&mut self) -> Vec<Option<Vec<ApplicationId>>> {
        let (nodes, now_ms) = (self.nodes.clone(), self.now_ms);
        let round = |node| self.cluster.round(node, FREE, now_ms);
        nodes.into_iter().map(round).collect()
    }

    /// Why each application waits, without the last digits.
    fn held(&mut self) -> Vec<String> {
        let (applications, now_ms) = (self.applications.clone(), self.now_ms);
        let held = |id| match self.cluster.held(id, now_ms) {
            Some(Held::NoFit {
                node,
                resource,
                excess,
            }) => format!("{node:?} {resource:?} {}", excess.is_some()),
            other => format!("{other:?}"),
        };
        applications.into_iter().map(held).collect()
    }
}

fn in_words(commit: &Commit) -> String {
    match commit {
        Commit::Placed(placement) => format!(
            "{:?} {:?} {:.6?}",
            placement.reason, placement.container, placement.score
        ),
        other => format!("{other:.3?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn names_what_the_policy_would_name(
        peaks in prop::sample::select(vec![Peaks::Strict, Peaks::Soft, Peaks::Stretch]),
        score in prop::sample::select(vec![
            PlanScore::Remaining(Shares::Largest),
            PlanScore::Remaining(Shares::Sum),
            PlanScore::Waiting(Power::Zero),
            PlanScore::Waiting(Power::Half),
        ]),
        passes in any::<bool>(),
        nodes in 1_usize..4,
        first in prop::collection::vec(submission(), 0..40),
        events in prop::collection::vec(event(), 1..40),
    ) {
        let pass_ms = if passes { 3_000 } else { 0 };
        let mut quick = Told::new(policy(peaks, score, true), nodes, pass_ms);
        let mut slow = Told::new(policy(peaks, score, false), nodes, pass_ms);
        let events = first.into_iter().map(Event::Submitted).chain(events);
        for (number, event) in events.enumerate() {
            prop_assert_eq!(quick.take(&event), slow.take(&event), "event {}", number);
            prop_assert_eq!(quick.rounds(), slow.rounds(), "after event {}", number);
            prop_assert_eq!(quick.held(), slow.held(), "after event {}", number);
            let kept = (quick.cluster.kept_node(), slow.cluster.kept_node());
            prop_assert_eq!(kept.0, kept.1, "after event {}", number);
        }
    }
}
