//! The changes that an experiment makes to a run.

use elastane_core::{Demand, DemandError, Resource, Resources};
use elastane_sim::simulator::{Contention, Settings};
use elastane_sim::workload::{Errors, Workload};

use crate::workload::Class;

/// A workload and how it is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// What runs, and on what.
    pub workload: Workload,
    /// How it is run.
    pub settings: Settings,
}

/// What an experiment changes.
pub type Change = fn(&mut Setup) -> Result<(), DemandError>;

impl Setup {
    /// As in the papers, an application waits until it fits. Production's protection from starvation
    /// would place it by request after a minute.
    pub fn nobody_starves(&mut self) {
        self.settings.starvation_wait_ms = self.settings.give_up_after_ms;
    }

    /// Multiplies a resource of all machines.
    pub(super) fn scale_machines(&mut self, resource: Resource, factor: f64) {
        for machine in &mut self.workload.machines {
            *machine = scaled(*machine, resource, factor);
        }
    }

    /// Multiplies the use of a resource by all executors.
    pub(super) fn scale_demands(
        &mut self,
        resource: Resource,
        factor: f64,
    ) -> Result<(), DemandError> {
        self.each_demand(|slots| {
            let slots = slots.iter().map(|slot| scaled(*slot, resource, factor));
            slots.collect()
        })
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
        self.each_demand(|slots| {
            let slots = slots
                .iter()
                .flat_map(|slot| std::iter::repeat_n(*slot, times));
            slots.collect()
        })
    }

    /// Gives applications of this name another class, with the same input and executors.
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
        let changed = |demand: &Demand| {
            // The peak keeps its ratio to the peak of its class.
            let peak = demand.peak().zip(peaks[0], |peak, of| peak / of);
            let peak = peak.zip(peaks[1], |part, of| part * of);
            let slots = (demand.slots().len() as f64 * longer).round().max(1.0) as usize;
            let shape = to.shape(slots);
            let slots = shape
                .iter()
                .map(|slot| slot.zip(peak, |part, peak| part * peak));
            Demand::series(demand.slot_ms(), &slots.collect::<Vec<_>>())
        };
        for application in &mut self.workload.applications {
            if application.name.starts_with(name) {
                application.actual = changed(&application.actual)?;
                if let Some(predicted) = &mut application.predicted {
                    *predicted = changed(predicted)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn change_contention(&mut self, change: impl FnOnce(&mut Contention)) {
        change(&mut self.settings.contention);
    }

    pub(super) fn change_errors(&mut self, change: impl Fn(&mut Errors)) {
        for application in &mut self.workload.applications {
            change(&mut application.errors);
        }
    }

    fn each_demand(
        &mut self,
        change: impl Fn(&[Resources]) -> Vec<Resources>,
    ) -> Result<(), DemandError> {
        let changed = |demand: &Demand| Demand::series(demand.slot_ms(), &change(demand.slots()));
        for application in &mut self.workload.applications {
            application.actual = changed(&application.actual)?;
            if let Some(predicted) = &mut application.predicted {
                *predicted = changed(predicted)?;
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
    fn a_part_of_a_cluster_has_as_much_to_do_for_each_machine() {
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
    fn what_is_known_is_what_is_used() {
        let mut setup = outdated();
        setup.know_all();
        for application in &setup.workload.applications {
            assert_eq!(application.predicted.as_ref(), Some(&application.actual));
        }
    }
}
