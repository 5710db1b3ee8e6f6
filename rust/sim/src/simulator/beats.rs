//! When each node's heartbeats come, without an event for each of them.

use std::ops::Range;

/// The heartbeats of all nodes: one a period, the nodes spread over it.
#[derive(Debug, Clone)]
pub(super) struct Beats {
    period_ms: i64,
    nodes: i64,
    /// The next one.
    planned_ms: Vec<Option<i64>>,
    /// A node has one heartbeat at a time.
    earliest_ms: Vec<i64>,
}

impl Beats {
    pub(super) fn new(period_ms: i64, nodes: usize) -> Self {
        Self {
            period_ms,
            nodes: nodes as i64,
            planned_ms: vec![None; nodes],
            earliest_ms: vec![0; nodes],
        }
    }

    /// Whether the first heartbeat of a node from `from_ms` on, or an earlier one, is planned.
    pub(super) fn is_planned_by(&self, node: usize, from_ms: i64) -> bool {
        self.planned_ms[node].is_some_and(|planned_ms| planned_ms <= self.first_from(node, from_ms))
    }

    /// When the next heartbeat of a node is planned.
    pub(super) fn planned_ms(&self, node: usize) -> Option<i64> {
        self.planned_ms[node]
    }

    /// Plans the first heartbeat of a node from `from_ms` on; none where it or an earlier one is planned.
    pub(super) fn plan(&mut self, node: usize, from_ms: i64) -> Option<i64> {
        if self.is_planned_by(node, from_ms) {
            return None;
        }
        let at_ms = self.first_from(node, from_ms);
        self.planned_ms[node] = Some(at_ms);
        Some(at_ms)
    }

    /// Begins a walk at the first heartbeat from `now_ms` on; during that of a node, after it.
    pub(super) fn walk(&self, now_ms: i64, during_heartbeat_of: Option<usize>) -> Walk {
        let into_period_ms = now_ms.rem_euclid(self.period_ms);
        let period_begins_ms = now_ms - into_period_ms;
        let first = (into_period_ms * self.nodes + self.period_ms - 1) / self.period_ms;
        let next = during_heartbeat_of.map_or(first as usize, |node| node + 1);
        let mut walk = Walk {
            next,
            period_begins_ms,
            at_ms: 0,
            nodes: self.nodes as usize,
            left: self.nodes as usize,
        };
        self.go_to(&mut walk, next);
        walk
    }

    /// The nodes whose heartbeats are at this moment. The walk goes on to the next ones.
    pub(super) fn step(&self, walk: &mut Walk) -> Range<usize> {
        let from = walk.next;
        let phase_ms = self.phase_ms(from);
        let to = (from..walk.nodes).find(|node| self.phase_ms(*node) != phase_ms);
        let to = to.unwrap_or(walk.nodes);
        walk.left = walk.left.saturating_sub(to - from);
        self.go_to(walk, to);
        from..to
    }

    fn go_to(&self, walk: &mut Walk, node: usize) {
        walk.next = node;
        if node == walk.nodes {
            walk.next = 0;
            walk.period_begins_ms += self.period_ms;
        }
        walk.at_ms = walk.period_begins_ms + self.phase_ms(walk.next);
    }

    fn phase_ms(&self, node: usize) -> i64 {
        self.period_ms * node as i64 / self.nodes
    }

    /// The node whose heartbeat comes first from `from_ms` on.
    pub(super) fn first_node_from(&self, from_ms: i64) -> usize {
        self.walk(from_ms, None).next
    }

    /// For a wait without an end, this time is later than any run.
    fn first_from(&self, node: usize, from_ms: i64) -> i64 {
        let phase_ms = self.phase_ms(node);
        let after_phase_ms = (from_ms.max(self.earliest_ms[node]) - phase_ms).max(0);
        let periods = after_phase_ms.saturating_add(self.period_ms - 1) / self.period_ms;
        phase_ms.saturating_add(periods * self.period_ms)
    }

    /// Whether the heartbeat that is on the agenda is still planned: it may have come earlier.
    pub(super) fn comes(&mut self, node: usize, now_ms: i64) -> bool {
        if self.planned_ms[node] != Some(now_ms) {
            return false;
        }
        self.planned_ms[node] = None;
        self.earliest_ms[node] = now_ms + 1;
        true
    }
}

/// A walk over all nodes, in the order of their heartbeats.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// The next node, and when its period of heartbeats began.
    next: usize,
    period_begins_ms: i64,
    at_ms: i64,
    nodes: usize,
    /// The number of nodes still to come to.
    left: usize,
}

impl Walk {
    /// The time of the next node's heartbeat.
    pub(super) fn at_ms(&self) -> i64 {
        self.at_ms
    }

    /// The walk comes to all nodes once more.
    pub(super) fn begin_again(&mut self) {
        self.left = self.nodes;
    }

    /// Whether it has come to all nodes.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_spread_over_the_period_and_keep_their_phase() {
        let mut beats = Beats::new(1_000, 4);
        assert_eq!(beats.plan(0, 0), Some(0));
        assert_eq!(beats.plan(1, 0), Some(250));
        assert_eq!(beats.plan(1, 0), None, "it has one");
        assert!(beats.comes(1, 250));
        assert_eq!(beats.plan(1, 250), Some(1_250), "this one was there");
    }

    #[test]
    fn a_heartbeat_that_is_planned_earlier_comes_instead() {
        let mut beats = Beats::new(1_000, 1);
        assert_eq!(beats.plan(0, 5_000), Some(5_000));
        assert_eq!(beats.plan(0, 1_500), Some(2_000));
        assert!(beats.comes(0, 2_000));
        assert!(!beats.comes(0, 5_000));
    }

    /// When it comes to which nodes.
    fn steps(beats: &Beats, mut walk: Walk) -> Vec<(i64, Range<usize>)> {
        let mut steps = Vec::new();
        while !walk.is_done() {
            steps.push((walk.at_ms(), beats.step(&mut walk)));
        }
        steps
    }

    #[test]
    fn a_walk_comes_to_every_node_when_its_heartbeat_would_be() {
        // Their phases are 0, 0, 1, 2 and 3 ms.
        let beats = Beats::new(4, 5);
        let all = [(8, 0..2), (9, 2..3), (10, 3..4), (11, 4..5)];
        assert_eq!(steps(&beats, beats.walk(8, None)), all);
        let from_the_middle = [(10, 3..4), (11, 4..5), (12, 0..2), (13, 2..3)];
        assert_eq!(steps(&beats, beats.walk(10, None)), from_the_middle);
    }

    #[test]
    fn a_walk_that_begins_during_a_heartbeat_begins_after_it() {
        let beats = Beats::new(4, 5);
        let first = |now_ms, node| steps(&beats, beats.walk(now_ms, Some(node)))[0].clone();
        assert_eq!(first(8, 0), (8, 1..2), "the other one at that moment");
        assert_eq!(first(8, 1), (9, 2..3));
        assert_eq!(first(11, 4), (12, 0..2), "the next period begins");
    }

    #[test]
    fn a_heartbeat_at_the_end_of_time_is_not_in_the_past() {
        for node in 0..3 {
            let mut beats = Beats::new(700, 3);
            let last_ms = beats.plan(node, i64::MAX).unwrap();
            assert!(last_ms > i64::MAX - 700, "{last_ms}");
            assert!(beats.plan(node, 0).is_some(), "an earlier one comes instead");
        }
    }
}
