//! A node of a scenario and the executors placed on it.

use elastane_core::node::{ExecutorId, Node};
use elastane_core::policy::{Rates, work};
use elastane_core::{Resources, Running};

use crate::scenario::{Assigned, Pending, Scenario, ScenarioNode};

pub(super) struct OnNode {
    pub(super) node: Node,
    /// The sum of the requests of running executors.
    pub(super) booked: Resources,
    now_ms: i64,
    /// EPT in seconds, if the scenario has one.
    expected_processing_s: Option<f64>,
    measured: Option<Assigned>,
}

impl OnNode {
    pub(super) fn new(on: &ScenarioNode, scenario: &Scenario) -> Self {
        let ursa = scenario.ursa.as_ref();
        let mut node = Self {
            node: Node::new(on.capacity),
            booked: Resources::ZERO,
            now_ms: scenario.now_ms,
            expected_processing_s: ursa.map(|ursa| ursa.expected_processing_s),
            measured: ursa.and_then(|ursa| ursa.nodes.get(&on.id).copied()),
        };
        for running in &on.running {
            let executor = Running::new(running.start_ms, running.demand.clone());
            node.insert(executor, running.request);
        }
        node
    }

    pub(super) fn place(&mut self, executor: &Pending) {
        self.insert(Running::new(self.now_ms, executor.demand.clone()), executor.request);
        if let Some(measured) = &mut self.measured {
            measured.assigned += work(&executor.demand);
        }
    }

    fn insert(&mut self, executor: Running, request: Resources) {
        let id = ExecutorId(self.node.running_count() as u64);
        self.node.insert(id, executor);
        self.booked += request;
    }

    /// Rates for Ursa: measured, or derived with the scenario's EPT. None without an EPT, since Ursa
    /// has a default.
    pub(super) fn rates(&self) -> Option<Rates> {
        let expected_processing_s = self.expected_processing_s?;
        Some(match self.measured {
            Some(Assigned { rates, assigned }) => {
                Rates { expected_processing_s, per_s: rates, assigned }
            }
            None => Rates::derived(&self.node, self.now_ms, expected_processing_s),
        })
    }
}
