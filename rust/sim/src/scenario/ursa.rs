//! Measurements for Ursa, in JSON.

use std::collections::BTreeMap;

use elastane_core::{Resource, Resources};
use serde::Deserialize;

use super::NodeText;
use crate::input::{InputError, amounts, not_an_amount, wrong};

/// The block `ursa` of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct UrsaBlock {
    /// EPT in seconds.
    pub expected_processing_s: f64,
    /// Measurements by node name; for other nodes they are derived from the running executors.
    pub nodes: BTreeMap<String, Assigned>,
}

/// The measurements of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assigned {
    /// Processing rates: cores and bytes per second; memory has none.
    pub rates: Resources,
    /// Outstanding work: core-seconds and bytes.
    pub assigned: Resources,
}

#[derive(Deserialize)]
pub(super) struct UrsaText {
    ept_s: f64,
    #[serde(default)]
    nodes: BTreeMap<String, AssignedText>,
}

#[derive(Deserialize)]
struct AssignedText {
    rates: RatesText,
    assigned: WorkText,
}

#[derive(Deserialize)]
struct RatesText {
    cpu_cores: f64,
    network_bytes_per_s: f64,
    disk_bytes_per_s: f64,
}

#[derive(Deserialize)]
struct WorkText {
    cpu_core_s: f64,
    network_bytes: f64,
    disk_bytes: f64,
}

fn work_key(resource: Resource) -> &'static str {
    match resource {
        Resource::Cpu => "cpu_core_s",
        Resource::Memory => "memory_byte_s",
        Resource::Network => "network_bytes",
        Resource::Disk => "disk_bytes",
    }
}

pub(super) fn read_ursa(text: &UrsaText, nodes: &[NodeText]) -> Result<UrsaBlock, InputError> {
    if !(text.ept_s.is_finite() && text.ept_s > 0.0) {
        let problem = format!("{}, finite and above 0 is allowed", text.ept_s);
        return Err(wrong("ursa.ept_s", problem));
    }
    let read = text.nodes.iter().map(|(id, node)| {
        if nodes.iter().any(|known| known.id == *id) {
            Ok((id.clone(), read_assigned(&format!("ursa.nodes.{id}"), node)?))
        } else {
            let problem = "there is no such node, the ids in nodes are allowed";
            Err(wrong(format!("ursa.nodes.{id}"), problem))
        }
    });
    Ok(UrsaBlock { expected_processing_s: text.ept_s, nodes: read.collect::<Result<_, _>>()? })
}

fn read_assigned(place: &str, text: &AssignedText) -> Result<Assigned, InputError> {
    let rates = Resources {
        cpu_cores: text.rates.cpu_cores,
        network_bytes_per_s: text.rates.network_bytes_per_s,
        disk_bytes_per_s: text.rates.disk_bytes_per_s,
        ..Resources::ZERO
    };
    let rates = amounts(&format!("{place}.rates"), rates)?;
    let assigned = Resources {
        cpu_cores: text.assigned.cpu_core_s,
        network_bytes_per_s: text.assigned.network_bytes,
        disk_bytes_per_s: text.assigned.disk_bytes,
        ..Resources::ZERO
    };
    if let Some((resource, amount)) = assigned.first_invalid() {
        let place = format!("{place}.assigned.{}", work_key(resource));
        return Err(not_an_amount(&place, amount));
    }
    Ok(Assigned { rates, assigned })
}
