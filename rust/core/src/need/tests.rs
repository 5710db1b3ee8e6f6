//! The fit of a demand, and its first excess.

use super::*;
use crate::SLOT_MS;
use crate::resources::cpu;
use crate::running::Running;
use crate::slot_of;
use crate::timeline::Timeline;

fn slots(slots: &[Resources]) -> Demand {
    Demand::series(SLOT_MS, slots).unwrap()
}

fn series(cores: &[f64]) -> Demand {
    let cores: Vec<_> = cores.iter().copied().map(cpu).collect();
    slots(&cores)
}

/// A node on which one executor runs, if any.
struct OnNode {
    capacity: Resources,
    left: Left,
}

impl OnNode {
    fn new(capacity: Resources, running: Option<Demand>) -> Self {
        let running = running.map(|demand| Running::new(0, demand));
        let timeline = Timeline::of(slot_of(0), &running);
        Self { capacity, left: Left::of(Amounts::rounded_down(capacity), timeline) }
    }

    fn fit(&self, demand: &Demand, margin: f64, peaks: Peaks) -> Result<(), Excess> {
        Need::predicted(demand, margin, self.capacity).fit(&self.left, peaks)
    }

    fn strictly(&self, demand: &Demand) -> Result<(), Excess> {
        self.fit(demand, 0.0, Peaks::Strict)
    }

    fn softly(&self, demand: &Demand) -> Result<(), Excess> {
        self.fit(demand, 0.0, Peaks::Soft)
    }
}

fn four_cores(running: &[f64]) -> OnNode {
    OnNode::new(cpu(4.0), Some(series(running)))
}

#[test]
fn peaks_that_do_not_coincide_fit() {
    let node = four_cores(&[3.0, 1.0]);
    assert_eq!(node.strictly(&series(&[1.0, 3.0])), Ok(()));
}

#[test]
fn an_excess_names_resource_amount_and_time() {
    let node = four_cores(&[3.0, 1.0, 2.0]);
    let excess = node.strictly(&series(&[1.0, 3.0, 2.5])).unwrap_err();
    assert_eq!(
        excess.to_string(),
        "cpu demand exceeds what is available by 0.50 cores from 6 s on"
    );
}

#[test]
fn the_margin_counts() {
    let node = four_cores(&[1.0]);
    let demand = series(&[2.9]);
    assert_eq!(node.fit(&demand, 0.0, Peaks::Strict), Ok(()));
    assert!(node.fit(&demand, 0.1, Peaks::Strict).is_err());
}

#[test]
fn an_unknown_resource_of_the_node_takes_no_part() {
    let empty = OnNode::new(cpu(4.0), None);
    let demand = Demand::for_life(Resources::from_array([1.0; 4]));
    assert_eq!(empty.strictly(&demand), Ok(()));
}

#[test]
fn two_demands_without_an_end_do_not_share_a_resource() {
    let forever = Demand::for_life(cpu(3.0));
    let node = OnNode::new(cpu(4.0), Some(forever));
    let demand = Demand::for_life(cpu(2.0));
    assert_eq!(node.strictly(&demand).unwrap_err().from_ms, 0);
}

/// The fit of a demand for one resource, on a node of 10,000 of which 9,000 are in use.
fn soft_fit(resource: Resource, amount: f64) -> Result<(), Excess> {
    let of = |amount| {
        let mut amounts = [0.0; 4];
        amounts[resource as usize] = amount;
        Resources::from_array(amounts)
    };
    let node = OnNode::new(of(1e4), Some(slots(&[of(9e3)])));
    node.softly(&slots(&[of(amount)]))
}

#[test]
fn under_soft_peaks_each_resource_has_its_allowed_excess() {
    for (resource, most) in [
        (Resource::Cpu, 3e3),
        (Resource::Memory, 1e3),
        (Resource::Network, 7e3),
        (Resource::Disk, 3e3),
    ] {
        assert_eq!(soft_fit(resource, most), Ok(()), "{resource:?}");
        let excess = soft_fit(resource, most + 1.0).unwrap_err();
        assert_eq!(excess.resource, resource);
        assert!((excess.amount - (most - 1e3)).abs() < 2.0, "{excess:?}");
    }
}

#[test]
fn under_soft_peaks_cpu_above_half_of_the_node_is_compared_in_total() {
    let node = four_cores(&[4.0, 0.0, 0.0]);
    assert!(node.softly(&series(&[2.0, 0.0, 0.0])).is_err(), "half of it");
    assert_eq!(node.softly(&series(&[2.001, 0.0, 0.0])), Ok(()));
    // 8 of 12 cores are left over three slots, and a total has no allowed excess.
    assert_eq!(node.softly(&series(&[4.0, 2.0, 2.0])), Ok(()));
    let excess = node.softly(&series(&[4.0, 2.0, 2.3])).unwrap_err();
    assert_eq!(excess.to_string(), "cpu demand exceeds what is available by 0.10 cores");
}

#[test]
fn under_soft_peaks_an_executor_large_in_cpu_is_compared_in_every_slot_of_the_others() {
    let slot = |cores, disk| Resources::from_array([cores, 0.0, 0.0, disk]);
    let running = slots(&[slot(0.0, 10.0), slot(0.0, 0.0)]);
    let node = OnNode::new(slot(4.0, 10.0), Some(running));
    let large = |disk| slots(&[slot(3.0, disk), slot(0.0, 0.0)]);
    assert_eq!(node.softly(&large(2.0)), Ok(()));
    let excess = node.softly(&large(3.0)).unwrap_err();
    assert_eq!(excess.resource, Resource::Disk);
}

#[test]
fn under_soft_peaks_a_demand_without_an_end_is_compared_in_every_slot() {
    let node = four_cores(&[3.0]);
    for (cores, fits) in [(1.0, true), (1.1, false), (3.0, false)] {
        let endless = Demand::for_life(cpu(cores));
        let softly = node.softly(&endless);
        assert_eq!(softly.is_ok(), fits, "{cores}");
        assert_eq!(softly, node.strictly(&endless));
    }
}
