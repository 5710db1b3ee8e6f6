//! Turns of a policy that compares all waiting applications.

use super::*;
use crate::fit::Excess;
use crate::policy::{Candidate, Place, Policy, Turn, Waiting};

/// Gives a turn and the better score to applications whose executors all find room at once.
struct WholeOnly {
    others: Turn,
}

impl Policy for WholeOnly {
    fn name(&self) -> &'static str {
        "whole-only"
    }

    fn fits(&self, _place: &Place<'_>, _candidate: &Candidate<'_>) -> Result<(), Excess> {
        Ok(())
    }

    fn score(&self, _place: &Place<'_>, candidate: &Candidate<'_>) -> f64 {
        if candidate.waiting.whole { 0.0 } else { 1.0 }
    }

    fn needs_gangs(&self) -> bool {
        true
    }

    fn turns(&self, waiting: &[Waiting], _now_ms: i64) -> Vec<Turn> {
        let turn = |one: &Waiting| if one.whole { Turn::Usual } else { self.others };
        waiting.iter().map(turn).collect()
    }
}

/// An application larger than the cluster, and one that finds room.
fn cluster(others: Turn) -> (Cluster, NodeId, ApplicationId, ApplicationId) {
    let mut cluster = Cluster::new(settings(), Box::new(WholeOnly { others }));
    let node = cluster.node_added("node-1:1", request(8, 8));
    cluster.reported(node, physical(), 0);
    cluster.reported(node, physical(), 60_000);
    let of = |count| Ask { count, ..ask(1, 1) };
    let large = waiting(&mut cluster, "large", Demands::default(), of(9));
    let small = waiting(&mut cluster, "small", Demands::default(), of(8));
    (cluster, node, large, small)
}

#[test]
fn an_application_without_a_turn_waits_but_does_not_starve() {
    let (mut cluster, node, large, small) = cluster(Turn::NotNow);
    let mut order = |now_ms| cluster.round(node, request(8, 8), now_ms).unwrap();
    assert_eq!(order(59_999), [small]);
    assert_eq!(order(60_000), [small, large]);
}

#[test]
fn a_score_depends_on_whether_the_gang_finds_room() {
    let (mut cluster, node, large, small) = cluster(Turn::Usual);
    let order = cluster.round(node, request(8, 8), 0).unwrap();
    assert_eq!(order, [small, large], "although the large one was submitted first");
}
