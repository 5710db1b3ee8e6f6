//! The four resources.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// One of the four resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource {
    /// Processor time.
    Cpu,
    /// Resident memory.
    Memory,
    /// Network, in and out.
    Network,
    /// Disk, read and written.
    Disk,
}

impl Resource {
    /// All four, in the order of every table and report.
    pub const ALL: [Resource; 4] =
        [Resource::Cpu, Resource::Memory, Resource::Network, Resource::Disk];

    /// The resources that work flows through; memory is held.
    pub const FLOWS: [Resource; 3] = [Resource::Cpu, Resource::Network, Resource::Disk];

    /// The name in reasons and reports.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Cpu => "cpu",
            Resource::Memory => "memory",
            Resource::Network => "network",
            Resource::Disk => "disk",
        }
    }
}

/// An amount of each resource: a demand, a usage or a capacity at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// CPU in cores.
    pub cpu_cores: f64,
    /// Memory in bytes.
    pub memory_bytes: f64,
    /// Network in bytes per second.
    pub network_bytes_per_s: f64,
    /// Disk in bytes per second.
    pub disk_bytes_per_s: f64,
}

impl Resources {
    /// Nothing of any resource.
    pub const ZERO: Resources = Resources::from_array([0.0; 4]);

    /// Factors of 1.
    pub const ONE: Resources = Resources::from_array([1.0; 4]);

    /// In the order of [`Resource::ALL`].
    pub const fn from_array(amounts: [f64; 4]) -> Self {
        let [cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s] = amounts;
        Self { cpu_cores, memory_bytes, network_bytes_per_s, disk_bytes_per_s }
    }

    /// In the order of [`Resource::ALL`].
    pub const fn to_array(self) -> [f64; 4] {
        [self.cpu_cores, self.memory_bytes, self.network_bytes_per_s, self.disk_bytes_per_s]
    }

    /// The amount of one resource.
    pub const fn get(self, resource: Resource) -> f64 {
        match resource {
            Resource::Cpu => self.cpu_cores,
            Resource::Memory => self.memory_bytes,
            Resource::Network => self.network_bytes_per_s,
            Resource::Disk => self.disk_bytes_per_s,
        }
    }

    /// Applies `f` to each resource.
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self::from_array(self.to_array().map(f))
    }

    /// Applies `f` to each pair of resources.
    pub fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let (a, b) = (self.to_array(), other.to_array());
        Self::from_array(std::array::from_fn(|i| f(a[i], b[i])))
    }

    /// The larger amount of each resource.
    pub fn max(self, other: Self) -> Self {
        self.zip(other, f64::max)
    }

    /// The largest amount of each resource in any slot; 0 without a slot.
    pub(crate) fn peak_of(slots: &[Resources]) -> Self {
        slots.iter().copied().fold(Self::ZERO, Self::max)
    }

    /// At most `capacity`; a resource of capacity 0 is unknown and becomes 0.
    pub fn capped(self, capacity: Self) -> Self {
        self.zip(capacity, f64::min)
    }

    /// The share of each resource of `whole`; 0 where it has none.
    pub fn share_of(self, whole: Self) -> Self {
        self.zip(whole, |part, whole| if whole > 0.0 { part / whole } else { 0.0 })
    }

    /// The first resource whose amount is not a number, infinite or negative.
    pub fn first_invalid(self) -> Option<(Resource, f64)> {
        Resource::ALL
            .into_iter()
            .map(|resource| (resource, self.get(resource)))
            .find(|(_, amount)| !amount.is_finite() || *amount < 0.0)
    }
}

impl Add for Resources {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }
}

impl Sum for Resources {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::ZERO, Add::add)
    }
}

impl Sub for Resources {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }
}

impl Mul<f64> for Resources {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        self.map(|amount| amount * factor)
    }
}

impl AddAssign for Resources {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Resources {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// An amount of CPU alone.
#[cfg(test)]
pub(crate) fn cpu(cores: f64) -> Resources {
    Resources { cpu_cores: cores, ..Resources::ZERO }
}
