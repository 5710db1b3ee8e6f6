//! When each node's heartbeats come, without an event for each of them.

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

    /// Plans that heartbeat; none where it or an earlier one is planned.
    pub(super) fn plan(&mut self, node: usize, from_ms: i64) -> Option<i64> {
        if self.is_planned_by(node, from_ms) {
            return None;
        }
        let at_ms = self.first_from(node, from_ms);
        self.planned_ms[node] = Some(at_ms);
        Some(at_ms)
    }

    /// Where somebody waits without an end it is later than any run.
    fn first_from(&self, node: usize, from_ms: i64) -> i64 {
        let phase_ms = self.period_ms * node as i64 / self.nodes;
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
    #[test]
    fn a_heartbeat_at_the_end_of_time_is_not_in_the_past() {
        for node in 0..3 {
            let mut beats = Beats::new(700, 3);
            let last_ms = beats.plan(node, i64::MAX).unwrap();
            assert!(last_ms > i64::MAX - 700, "{last_ms}");
            assert!(
                beats.plan(node, 0).is_some(),
                "an earlier one comes instead"
            );
        }
    }
}
