//! The parts of a score.

use std::collections::BTreeMap;

use crate::resources::{Resource, Resources};

/// Named parts of a score, for people. Values that are not finite are left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Detail {
    /// Milliseconds, such as `horizon_ms`.
    pub times_ms: BTreeMap<&'static str, i64>,
    /// Single numbers, such as Ursa's `F`.
    pub numbers: BTreeMap<&'static str, f64>,
    /// One number for each resource known on the node, such as `remaining_share`.
    pub per_resource: BTreeMap<&'static str, BTreeMap<&'static str, f64>>,
}

impl Detail {
    /// Adds a time in milliseconds.
    pub fn time_ms(mut self, name: &'static str, value: i64) -> Self {
        self.times_ms.insert(name, value);
        self
    }

    /// Adds a number.
    pub fn number(mut self, name: &'static str, value: f64) -> Self {
        if value.is_finite() {
            self.numbers.insert(name, value);
        }
        self
    }

    /// Adds a number for each of `resources` whose `capacity` is above 0.
    pub fn resources(
        mut self,
        name: &'static str,
        resources: &[Resource],
        capacity: Resources,
        values: Resources,
    ) -> Self {
        let known = resources
            .iter()
            .filter(|resource| capacity.get(**resource) > 0.0)
            .map(|resource| (resource.name(), values.get(*resource)))
            .filter(|(_, value)| value.is_finite());
        self.per_resource.insert(name, known.collect());
        self
    }
}
