//! Each application's part of the time in which machines have executors.

use elastane_core::Resources;

use super::machine::{Machine, Stretch};
use super::meter::Sum;
use crate::workload::{Workload, dominant_share};

/// Divides a machine's time among its executors, by the dominant shares of their requests. The parts of all
/// applications add up to the occupied time.
#[derive(Debug)]
pub(super) struct Occupancy {
    /// By application, the dominant share of one of its requests.
    shares: Vec<f64>,
    /// By application, in milliseconds.
    parts_ms: Vec<Sum>,
}

impl Occupancy {
    pub(super) fn new(workload: &Workload) -> Self {
        let cluster: Resources = workload.capacity();
        let requests = workload.applications.iter().map(|it| it.request);
        let shares: Vec<f64> = requests.map(|it| dominant_share(it, cluster)).collect();
        Self { parts_ms: vec![Sum::default(); shares.len()], shares }
    }

    pub(super) fn add(&mut self, machine: &Machine, stretch: &Stretch) {
        let Self { shares, parts_ms } = self;
        // Without one that starts at the stretch's end.
        let executors = || machine.executors().iter().take(stretch.executors);
        let applications = || executors().map(|executor| executor.application);
        let whole: f64 = applications().map(|it| shares[it]).sum();
        let length_ms = stretch.to_ms - stretch.from_ms;
        for application in applications() {
            parts_ms[application].add(length_ms * shares[application] / whole);
        }
    }

    /// The part of an application, in seconds.
    pub(super) fn part_s(&self, application: usize) -> f64 {
        self.parts_ms[application].value() / 1e3
    }
}
