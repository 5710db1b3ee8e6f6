//! A simulation of an experiment, and the changes to it.

use elastane_core::{ClusterSettings, Demand, DemandError, Resource, Resources};
use elastane_sim::simulator::{Contention, Settings};
use elastane_sim::workload::Workload;

use crate::workload::Class;

/// A workload and the settings of its simulation.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Machines and applications.
    pub workload: Workload,
    /// The simulator's settings.
    pub settings: Settings,
}

/// A node can hold less than this multiple of its size, so that the fit alone decides.
const UNLIMITED_RATIO: f64 = 100.0;

/// The papers' rules: no margin, whatever fits by demand may be booked, and an application waits until
/// it fits. After a minute, production would place it by request.
pub fn papers_settings() -> Settings {
    let production = Settings::default();
    Settings {
        cluster: ClusterSettings {
            max_ratio: UNLIMITED_RATIO,
            starvation_wait_ms: production.give_up_after_ms,
            ..production.cluster
        },
        margin: 0.0,
        ..production
    }
}

/// A change of a setup.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// Changes the contention model.
    Contention(fn(&mut Contention)),
    /// Changes any part, and cannot fail.
    Set(fn(&mut Setup)),
    /// Computes new demands, which may not be valid.
    Compute(fn(&mut Setup) -> Result<(), DemandError>),
}

impl Change {
    /// No change.
    pub const NONE: Change = Change::Set(|_| ());

    /// Changes the setup; fails if a new demand is not valid.
    pub fn apply(self, setup: &mut Setup) -> Result<(), DemandError> {
        match self {
            Change::Contention(change) => change(&mut setup.settings.contention),
            Change::Set(change) => change(setup),
            Change::Compute(change) => change(setup)?,
        }
        Ok(())
    }
}

impl Setup {
    /// Multiplies a resource of all machines.
    pub(super) fn scale_machines(&mut self, resource: Resource, factor: f64) {
        for machine in &mut self.workload.machines {
            *machine = scaled(*machine, resource, factor);
        }
    }

    /// Multiplies the use of a resource by all executors.
    pub(super) fn scale_demands(&mut self, resource: Resource, factor: f64) {
        let factors = scaled(Resources::ONE, resource, factor);
        for application in &mut self.workload.applications {
            application.actual = application.actual.scaled(factors);
            if let Some(predicted) = &mut application.predicted {
                *predicted = predicted.scaled(factors);
            }
        }
    }

    /// Multiplies the number of executors of each application; at least one stays.
    pub(super) fn scale_executors(&mut self, factor: f64) {
        for application in &mut self.workload.applications {
            let executors = (f64::from(application.executors) * factor).round() as u32;
            application.executors = executors.max(1);
        }
    }

    /// Keeps a part of the machines, at least one, and of each application's executors, so that the
    /// load per machine stays.
    pub(super) fn part_of_cluster(&mut self, part: f64) {
        let machines = (self.workload.machines.len() as f64 * part).round() as usize;
        self.workload.machines.truncate(machines.max(1));
        self.scale_executors(part);
    }

    /// Makes each prediction the mean use of the application's executors.
    pub(super) fn know_all(&mut self) {
        for application in &mut self.workload.applications {
            application.predicted = Some(application.actual.clone());
        }
    }

    /// Multiplies the life of executors.
    pub(super) fn lengthen(&mut self, times: usize) -> Result<(), DemandError> {
        self.change_demands("", |demand| {
            let slots = demand.slots().iter();
            let slots = slots.flat_map(|slot| std::iter::repeat_n(*slot, times));
            Demand::series(demand.slot_ms(), &slots.collect::<Vec<_>>())
        })
    }

    /// Replaces the class of the applications of this name; input and executors stay.
    pub(super) fn take_for(
        &mut self,
        name: &str,
        [from, to]: [Class; 2],
    ) -> Result<(), DemandError> {
        let slots_per_gb = |class: Class| {
            let statistics = class.statistics();
            statistics.slots as f64 / statistics.input_gb
        };
        let longer = slots_per_gb(to) / slots_per_gb(from);
        let peaks = [from, to].map(|class| class.statistics().peak);
        self.change_demands(name, |demand| {
            // The peak keeps its ratio to the peak of its class.
            let peak = demand.peak().zip(peaks[0], |peak, of| peak / of);
            let peak = peak.zip(peaks[1], |part, of| part * of);
            let slots = (demand.slots().len() as f64 * longer).round().max(1.0) as usize;
            let shape = to.shape(slots);
            let slots = shape.iter().map(|slot| slot.zip(peak, |part, peak| part * peak));
            Demand::series(demand.slot_ms(), &slots.collect::<Vec<_>>())
        })
    }

    /// Changes the actual and the predicted demands of the applications whose names start with `name`.
    fn change_demands(
        &mut self,
        name: &str,
        change: impl Fn(&Demand) -> Result<Demand, DemandError>,
    ) -> Result<(), DemandError> {
        let applications = self.workload.applications.iter_mut();
        for application in applications.filter(|it| it.name.starts_with(name)) {
            application.actual = change(&application.actual)?;
            if let Some(predicted) = &mut application.predicted {
                *predicted = change(predicted)?;
            }
        }
        Ok(())
    }
}

fn scaled(amounts: Resources, resource: Resource, factor: f64) -> Resources {
    let mut amounts = amounts.to_array();
    amounts[resource as usize] *= factor;
    Resources::from_array(amounts)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    fn outdated() -> Setup {
        Setup {
            workload: crate::workload::generate("elasecutor-outdated", 1).unwrap(),
            settings: Settings::default(),
        }
    }

    #[test]
    fn a_part_of_a_cluster_keeps_the_load_per_machine() {
        let (whole, mut part) = (outdated(), outdated());
        part.part_of_cluster(0.2);
        let per_machine = |setup: &Setup| {
            setup.workload.executors() as f64 / setup.workload.machines.len() as f64
        };
        assert_eq!(part.workload.machines.len(), 7);
        let ratio = per_machine(&part) / per_machine(&whole);
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
        part.part_of_cluster(1e-3);
        assert_eq!(part.workload.machines.len(), 1);
    }

    #[test]
    fn a_known_prediction_equals_the_use() {
        let mut setup = outdated();
        setup.know_all();
        for application in &setup.workload.applications {
            assert_eq!(application.predicted.as_ref(), Some(&application.actual));
        }
    }
}
