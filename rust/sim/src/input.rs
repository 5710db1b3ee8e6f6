//! Parts that the readers of scenarios, workloads and traces share: errors with their place, and amounts.

use elastane_core::{Demand, DemandError, Resource, Resources};
use serde::de::DeserializeOwned;

/// An error in an input, and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct InputError {
    /// Such as `nodes[0].running[1].demand.cpu_cores[3]`, or `line 7`.
    pub place: String,
    /// The value and what is allowed.
    pub problem: String,
}

pub(crate) fn wrong(place: impl Into<String>, problem: impl ToString) -> InputError {
    InputError { place: place.into(), problem: problem.to_string() }
}

pub(crate) fn not_an_amount(place: impl Into<String>, amount: f64) -> InputError {
    wrong(place, format!("{amount}, finite and at least 0 is allowed"))
}

/// The key of a resource's amount in a file.
pub(crate) fn key(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "cpu_cores",
        Resource::Memory => "memory_bytes",
        Resource::Network => "network_bytes_per_s",
        Resource::Disk => "disk_bytes_per_s",
    }
}

/// A struct `PerResource` with one value for each resource.
macro_rules! per_resource {
    ($(#[$attribute:meta])*) => {
        #[derive(serde::Deserialize)]
        $(#[$attribute])*
        struct PerResource<T> {
            cpu_cores: T,
            memory_bytes: T,
            network_bytes_per_s: T,
            disk_bytes_per_s: T,
        }

        impl<T> PerResource<T> {
            /// In the order of [`elastane_core::Resource::ALL`].
            fn to_array(&self) -> [&T; 4] {
                [
                    &self.cpu_cores,
                    &self.memory_bytes,
                    &self.network_bytes_per_s,
                    &self.disk_bytes_per_s,
                ]
            }
        }
    };
}
pub(crate) use per_resource;

/// The whole text as one value.
pub(crate) fn from_json<T: DeserializeOwned>(json: &str) -> Result<T, InputError> {
    let deserializer = &mut serde_json::Deserializer::from_str(json);
    let text = serde_path_to_error::deserialize(&mut *deserializer).map_err(|error| {
        let place = error.path().to_string();
        let is_data = error.inner().is_data() && place != ".";
        let place = if is_data { place.as_str() } else { "scenario" };
        wrong(place, error.inner())
    })?;
    let end = deserializer.end();
    end.map_err(|error| wrong("scenario", error))?;
    Ok(text)
}

/// Amounts that stand at `place`.
pub(crate) fn amounts(place: &str, amounts: Resources) -> Result<Resources, InputError> {
    match amounts.first_invalid() {
        Some((resource, amount)) => {
            Err(not_an_amount(format!("{place}.{}", key(resource)), amount))
        }
        None => Ok(amounts),
    }
}

/// One column a resource, in the order of [`Resource::ALL`], that stand at `place`.
pub(crate) fn series(
    place: &str,
    columns: [&Vec<f64>; 4],
    slot_ms: u32,
) -> Result<Demand, InputError> {
    let length = columns[0].len();
    for (resource, column) in Resource::ALL.into_iter().zip(columns) {
        if column.len() != length {
            let problem = format!("{} values, {length} as in cpu_cores are allowed", column.len());
            return Err(wrong(format!("{place}.{}", key(resource)), problem));
        }
    }
    let slots: Vec<Resources> =
        (0..length).map(|slot| Resources::from_array(columns.map(|column| column[slot]))).collect();
    Demand::series(slot_ms, &slots).map_err(|error| match error {
        DemandError::Amount { slot, resource, amount } => {
            not_an_amount(format!("{place}.{}[{slot}]", key(resource)), amount)
        }
        error => wrong(place, error),
    })
}
