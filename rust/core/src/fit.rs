//! Fit: whether a demand stays within what is available for all of its life.

use std::fmt;

use crate::available::Available;
use crate::demand::Demand;
use crate::resources::{Resource, Resources};

/// Sums of many steps carry rounding errors; a demand within this fraction of the capacity fits.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// Where a demand first passes what is available.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Excess {
    /// Which resource.
    pub resource: Resource,
    /// By how much, in the resource's unit.
    pub amount: f64,
    /// From when on, in milliseconds from now.
    pub from_ms: i64,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = self.resource.name();
        let seconds = self.from_ms as f64 / 1e3;
        write!(f, "{resource} demand exceeds what is available by ")?;
        match self.resource {
            Resource::Cpu => write!(f, "{:.2} cores", self.amount)?,
            Resource::Memory => write!(f, "{:.1} MB", self.amount / 1e6)?,
            Resource::Network | Resource::Disk => write!(f, "{:.1} MB/s", self.amount / 1e6)?,
        }
        if self.from_ms > 0 {
            write!(f, " from {seconds} s on")?;
        }
        Ok(())
    }
}

/// What becomes of a peak in CPU, network or disk that meets another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Peaks {
    /// It must not happen: see [`fit`].
    #[default]
    Strict,
    /// It may happen by a little: see [`fit_softly`].
    Soft,
    /// It stretches both, which costs time and loses nothing: see [`fit_over_life`].
    Stretch,
}

/// By how many tenths of its capacity each resource may pass what is available under
/// [`Peaks::Soft`]: memory by nothing, and the network by most, since sharing it costs least.
/// `docs/house-policy.md` has what other values give.
pub(crate) const SOFT_TENTHS: [i64; 4] = [2, 0, 6, 2];

/// An executor that takes more than one over this number of a node's CPU alone is large there.
pub(crate) const LARGE_PART: i64 = 2;

/// What one executor is held to on a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// In every slot of its life.
    pub(crate) in_every_slot: &'static [Resource],
    /// In total over its life.
    pub(crate) in_total: &'static [Resource],
    /// Whether CPU, network and disk may pass what is available by [`SOFT_TENTHS`].
    pub(crate) soft: bool,
}

impl Peaks {
    /// By how much a demand with an end may pass what is available on a node of this capacity.
    #[must_use]
    pub fn may_pass(self, capacity: Resources) -> Resources {
        match self {
            Peaks::Soft => {
                let parts = SOFT_TENTHS.map(|tenths| tenths as f64 / 10.0);
                capacity.zip(Resources::from_array(parts), |capacity, part| {
                    capacity * part
                })
            }
            Peaks::Strict | Peaks::Stretch => Resources::ZERO,
        }
    }

    /// What an executor that takes this much CPU at most is held to in every slot of its life on a
    /// node of this capacity.
    #[must_use]
    pub fn in_every_slot(self, most_cores: f64, capacity: Resources) -> &'static [Resource] {
        self.terms(true, is_large(most_cores, capacity))
            .in_every_slot
    }

    /// Of an executor with an end, that may be large in CPU on the node; what does not end has no
    /// total and is not predicted, and is held to every slot.
    pub(crate) fn terms(self, has_end: bool, large_in_cpu: bool) -> Terms {
        const OTHERS: [Resource; 3] = [Resource::Memory, Resource::Network, Resource::Disk];
        let (in_every_slot, in_total): (&[Resource], &[Resource]) = match self {
            Peaks::Soft if has_end && large_in_cpu => (&OTHERS, &[Resource::Cpu]),
            Peaks::Stretch if has_end => (&[Resource::Memory], &Resource::FLOWS),
            Peaks::Strict | Peaks::Soft | Peaks::Stretch => (&Resource::ALL, &[]),
        };
        Terms {
            in_every_slot,
            in_total,
            soft: self == Peaks::Soft && has_end,
        }
    }
}

/// [`fit`], [`fit_softly`] or [`fit_over_life`], as `peaks` has it.
///
/// # Errors
/// Where and by how much it does not fit.
pub fn fit_by(peaks: Peaks, available: &Available, needed: &Demand) -> Result<(), Excess> {
    match peaks {
        Peaks::Strict => fit(available, needed, 0.0),
        Peaks::Soft => fit_softly(available, needed),
        Peaks::Stretch => fit_over_life(available, needed, 0.0),
    }
}

/// Memory in every slot, as [`fit`] has it; CPU, network and disk in every slot, too, but they may pass
/// what is available, by [`Peaks::may_pass`]. A peak that is cut by so little is over a little later.
///
/// CPU of an executor that takes more than half of the node's alone is held to the total over its
/// life: no two of them would fit, although most of the time they need little. It can be: cores that
/// are shared out lose nothing, where disk and network do.
///
/// A demand that does not end is held to every slot without that.
///
/// # Errors
/// Where and by how much it does not fit.
pub fn fit_softly(available: &Available, needed: &Demand) -> Result<(), Excess> {
    let capacity = available.capacity();
    let large = is_large(needed.peak().cpu_cores, capacity);
    let terms = Peaks::Soft.terms(needed.duration_ms().is_some(), large);
    let over = if terms.soft {
        Peaks::Soft.may_pass(capacity)
    } else {
        Resources::ZERO
    };
    in_every_slot(available, needed, 0.0, terms.in_every_slot, over)?;
    match needed.duration_ms() {
        Some(life_ms) => in_total(available, needed, 0.0, terms.in_total, life_ms),
        None => Ok(()),
    }
}

/// demand(i, t) · (1 + margin) ≤ available(j, t) for every resource and every t of its life
/// (Elasecutor, section III-B).
///
/// # Errors
/// Where and by how much it does not fit.
pub fn fit(available: &Available, demand: &Demand, margin: f64) -> Result<(), Excess> {
    in_every_slot(available, demand, margin, &Resource::ALL, Resources::ZERO)
}

/// Memory in every slot, as [`fit`] has it; CPU, network and disk in total over the executor's
/// life: ∫ demand(i, t) · (1 + margin) dt ≤ ∫ available(j, t) dt. Work that meets a peak of another
/// is done a little later, where memory that is not there kills.
///
/// A demand that does not end has no total, and is held to every slot.
///
/// # Errors
/// Where and by how much it does not fit; for a total the mean over its life.
pub fn fit_over_life(available: &Available, demand: &Demand, margin: f64) -> Result<(), Excess> {
    let Some(life_ms) = demand.duration_ms() else {
        return fit(available, demand, margin);
    };
    let memory = [Resource::Memory];
    in_every_slot(available, demand, margin, &memory, Resources::ZERO)?;
    in_total(available, demand, margin, &Resource::FLOWS, life_ms)
}

fn is_large(most_cores: f64, capacity: Resources) -> bool {
    most_cores * LARGE_PART as f64 > capacity.cpu_cores
}

fn in_total(
    available: &Available,
    demand: &Demand,
    margin: f64,
    resources: &[Resource],
    life_ms: i64,
) -> Result<(), Excess> {
    let missing = available
        .segments(demand, life_ms)
        .fold(Resources::ZERO, |sum, segment| {
            let needed = segment.demand * (1.0 + margin);
            sum + (needed - segment.available) * segment.length_ms() as f64
        })
        .map(|total| total / life_ms as f64);
    let short = resources.iter().find(|resource| {
        let capacity = available.capacity().get(**resource);
        capacity > 0.0 && missing.get(**resource) > TOLERANCE * capacity
    });
    match short.copied() {
        Some(resource) => Err(Excess {
            resource,
            amount: missing.get(resource),
            from_ms: 0,
        }),
        None => Ok(()),
    }
}

/// Each of `resources` in every slot; it may pass what is available by `over`.
pub(crate) fn in_every_slot(
    available: &Available,
    demand: &Demand,
    margin: f64,
    resources: &[Resource],
    over: Resources,
) -> Result<(), Excess> {
    let capacity = available.capacity();
    let allowed = capacity * TOLERANCE + over;
    let needed = |amounts: Resources| amounts * (1.0 + margin);
    let short = |needed: Resources, left: Resources| {
        resources.iter().copied().find(|resource| {
            capacity.get(*resource) > 0.0
                && needed.get(*resource) > left.get(*resource) + allowed.get(*resource)
        })
    };
    if short(needed(demand.peak()), available.least()).is_none() {
        return Ok(());
    }
    let excess = available.segments(demand, i64::MAX).find_map(|segment| {
        let needed = needed(segment.demand);
        short(needed, segment.available).map(|resource| Excess {
            resource,
            amount: needed.get(resource) - segment.available.get(resource),
            from_ms: segment.from_ms,
        })
    });
    excess.map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::Running;

    fn cpu(cores: f64) -> Resources {
        Resources {
            cpu_cores: cores,
            ..Resources::ZERO
        }
    }

    fn series(cores: &[f64]) -> Demand {
        let slots: Vec<_> = cores.iter().copied().map(cpu).collect();
        Demand::series(1_000, &slots).unwrap()
    }

    #[test]
    fn peaks_that_do_not_meet_fit() {
        let running = Running::new(0, series(&[3.0, 1.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        assert_eq!(fit(&available, &series(&[1.0, 3.0]), 0.0), Ok(()));
    }

    #[test]
    fn where_it_does_not_fit_is_named() {
        let running = Running::new(0, series(&[3.0, 1.0, 2.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        let excess = fit(&available, &series(&[1.0, 3.0, 2.5]), 0.0).unwrap_err();
        assert_eq!(
            excess.to_string(),
            "cpu demand exceeds what is available by 0.50 cores from 2 s on"
        );
    }

    #[test]
    fn the_margin_counts() {
        let running = Running::new(0, series(&[1.0]));
        let busy = Available::new(cpu(4.0), &[running], 0);
        assert_eq!(fit(&busy, &series(&[2.9]), 0.0), Ok(()));
        assert!(fit(&busy, &series(&[2.9]), 0.1).is_err());
    }

    #[test]
    fn a_resource_that_the_node_does_not_know_takes_no_part() {
        let empty = Available::new(cpu(4.0), &[], 0);
        let demand = Demand::for_life(Resources::from_array([1.0; 4])).unwrap();
        assert_eq!(fit(&empty, &demand, 0.0), Ok(()));
    }

    #[test]
    fn a_demand_for_life_waits_for_what_never_ends() {
        let forever = Running::new(0, Demand::for_life(cpu(3.0)).unwrap());
        let available = Available::new(cpu(4.0), &[forever], 0);
        let demand = Demand::for_life(cpu(2.0)).unwrap();
        assert_eq!(fit(&available, &demand, 0.0).unwrap_err().from_ms, 0);
    }

    /// Of so much of one resource, on a node of 100 of which 90 are taken.
    fn softly_fits(resource: Resource, amount: f64) -> Result<(), Excess> {
        let of = |amount| {
            let mut amounts = [0.0; 4];
            amounts[resource as usize] = amount;
            Resources::from_array(amounts)
        };
        let demand = |amount| Demand::series(1_000, &[of(amount)]).unwrap();
        let running = Running::new(0, demand(90.0));
        let available = Available::new(of(100.0), &[running], 0);
        fit_softly(&available, &demand(amount))
    }

    #[test]
    fn softly_each_resource_may_pass_what_is_available_by_its_part_of_the_node() {
        for (resource, most) in [
            (Resource::Cpu, 30.0),
            (Resource::Memory, 10.0),
            (Resource::Network, 70.0),
            (Resource::Disk, 30.0),
        ] {
            assert_eq!(softly_fits(resource, most), Ok(()), "{resource:?}");
            let excess = softly_fits(resource, most + 0.001).unwrap_err();
            assert_eq!(excess.resource, resource);
            assert!((excess.amount - (most - 10.0)).abs() < 0.01, "{excess:?}");
        }
    }

    #[test]
    fn softly_cpu_above_half_of_the_node_is_held_to_the_total() {
        let running = Running::new(0, series(&[4.0, 0.0, 0.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        let half_of_it = series(&[2.0, 0.0, 0.0]);
        assert!(fit_softly(&available, &half_of_it).is_err());
        let more_than_half = series(&[2.001, 0.0, 0.0]);
        assert_eq!(fit_softly(&available, &more_than_half), Ok(()));
        // Of 12 core-seconds 8 are left, and a total is not passed.
        assert_eq!(fit_softly(&available, &series(&[4.0, 2.0, 2.0])), Ok(()));
        let excess = fit_softly(&available, &series(&[4.0, 2.0, 2.3])).unwrap_err();
        assert_eq!(
            excess.to_string(),
            "cpu demand exceeds what is available by 0.10 cores"
        );
    }

    #[test]
    fn softly_what_is_large_in_cpu_is_held_to_every_slot_of_the_others() {
        let slot = |cores, disk| Resources::from_array([cores, 0.0, 0.0, disk]);
        let of = |slots: &[Resources]| Demand::series(1_000, slots).unwrap();
        let running = Running::new(0, of(&[slot(0.0, 10.0), slot(0.0, 0.0)]));
        let available = Available::new(slot(4.0, 10.0), &[running], 0);
        let large = |disk| of(&[slot(3.0, disk), slot(0.0, 0.0)]);
        assert_eq!(fit_softly(&available, &large(2.0)), Ok(()));
        let excess = fit_softly(&available, &large(3.0)).unwrap_err();
        assert_eq!(excess.resource, Resource::Disk);
    }

    #[test]
    fn softly_a_demand_without_an_end_is_held_to_every_slot() {
        let running = Running::new(0, series(&[3.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        for (cores, fits) in [(1.0, true), (1.1, false), (3.0, false)] {
            let endless = Demand::for_life(cpu(cores)).unwrap();
            let softly = fit_softly(&available, &endless);
            assert_eq!(softly.is_ok(), fits, "{cores}");
            assert_eq!(softly, fit(&available, &endless, 0.0));
        }
    }

    #[test]
    fn over_life_peaks_may_meet_where_the_total_fits() {
        let running = Running::new(0, series(&[3.0, 1.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        let demand = series(&[3.0, 1.0]);
        assert!(fit(&available, &demand, 0.0).is_err());
        assert_eq!(fit_over_life(&available, &demand, 0.0), Ok(()));
        let excess = fit_over_life(&available, &series(&[3.0, 2.0]), 0.0).unwrap_err();
        assert_eq!(
            excess.to_string(),
            "cpu demand exceeds what is available by 0.50 cores"
        );
    }

    #[test]
    fn over_life_memory_still_has_to_fit_in_every_slot() {
        let memory = |bytes: f64| Resources {
            memory_bytes: bytes,
            ..Resources::ZERO
        };
        let demand = Demand::series(1_000, &[memory(3.0), memory(1.0)]).unwrap();
        let running = Running::new(0, demand.clone());
        let available = Available::new(memory(4.0), &[running], 0);
        let excess = fit_over_life(&available, &demand, 0.0).unwrap_err();
        assert_eq!(excess.resource, Resource::Memory);
    }

    #[test]
    fn a_demand_without_an_end_is_held_to_every_slot() {
        let running = Running::new(0, series(&[3.0]));
        let available = Available::new(cpu(4.0), &[running], 0);
        let demand = Demand::for_life(cpu(2.0)).unwrap();
        assert!(fit_over_life(&available, &demand, 0.0).is_err());
    }
}
