//! Version 4, which version 5 still reads. It lacks [`ContainerSamples::stages`]; the reply is the same.

use serde::Deserialize;

use crate::body::read;
use crate::{
    BodyError, CanLimit, Capacity, ContainerSamples, Decommissioned, Limits, MemoryVictim,
    Pressure, Report, Sample, Usage, VERSION,
};

/// The version before [`VERSION`].
pub const PREVIOUS_VERSION: u16 = 4;

const _: () = assert!(PREVIOUS_VERSION + 1 == VERSION);

/// Decodes a report of [`VERSION`] or of [`PREVIOUS_VERSION`]. A [`crate::Reply`] has the same bytes in both, so
/// the reply to either is encoded by [`crate::encode`] and sent with the report's version.
///
/// # Errors
/// As [`crate::decode`].
pub fn decode_report(version: u16, body: &[u8]) -> Result<Report, BodyError> {
    match version {
        VERSION => read(body),
        PREVIOUS_VERSION => read::<PreviousReport>(body).map(Report::from),
        got => Err(BodyError::Version { got }),
    }
}

/// [`Report`] in version 4.
#[derive(Deserialize)]
struct PreviousReport {
    agent_run: u64,
    sequence: u64,
    can_limit: CanLimit,
    capacity: Capacity,
    containers_usage: Usage,
    node_usage: Usage,
    pressure: Option<Pressure>,
    memory_victims: Vec<MemoryVictim>,
    decommissioned: Vec<Decommissioned>,
    containers: Vec<PreviousSamples>,
}

/// [`ContainerSamples`] in version 4.
#[derive(Deserialize)]
struct PreviousSamples {
    container: String,
    limits: Option<Limits>,
    samples: Vec<Sample>,
}

impl From<PreviousReport> for Report {
    fn from(previous: PreviousReport) -> Self {
        Self {
            agent_run: previous.agent_run,
            sequence: previous.sequence,
            can_limit: previous.can_limit,
            capacity: previous.capacity,
            containers_usage: previous.containers_usage,
            node_usage: previous.node_usage,
            pressure: previous.pressure,
            memory_victims: previous.memory_victims,
            decommissioned: previous.decommissioned,
            containers: previous.containers.into_iter().map(ContainerSamples::from).collect(),
        }
    }
}

impl From<PreviousSamples> for ContainerSamples {
    fn from(previous: PreviousSamples) -> Self {
        let PreviousSamples { container, limits, samples } = previous;
        Self { container, limits, samples, stages: None }
    }
}
