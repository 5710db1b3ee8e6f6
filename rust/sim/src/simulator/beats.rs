//! When each node's heartbeats come, without an event for each of them.

/// The heartbeats of all nodes: one a period, the nodes spread over it.
#[derive(Debug, Clone)]
pub(super) struct Beats {
    period_ms: i64,
    nodes: i64,
    /// The next one that is on the agenda.
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

    /// Plans the first heartbeat of a node from `from_ms` on; none where it has one planned.
    pub(super) fn plan(&mut self, node: usize, from_ms: i64) -> Option<i64> {
        if self.planned_ms[node].is_some() {
            return None;
        }
        let phase_ms = self.period_ms * node as i64 / self.nodes;
        let after_phase_ms = (from_ms.max(self.earliest_ms[node]) - phase_ms).max(0);
        let periods = (after_phase_ms + self.period_ms - 1) / self.period_ms;
        let at_ms = phase_ms + periods * self.period_ms;
        self.planned_ms[node] = Some(at_ms);
        Some(at_ms)
    }

    /// The heartbeat that was planned has come.
    pub(super) fn came(&mut self, node: usize, now_ms: i64) {
        self.planned_ms[node] = None;
        self.earliest_ms[node] = now_ms + 1;
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
        beats.came(1, 250);
        assert_eq!(beats.plan(1, 250), Some(1_250), "this one was there");
    }
}
