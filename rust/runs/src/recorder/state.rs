//! The serialized form of a recorder.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use elastane_core::ContainerKind;
use serde::Deserialize;

use super::{
    LONGEST_MS, MAX_SLOTS, MOST_EXECUTOR_KINDS, RecordedContainer, RunRecorder, Totals, slot_of,
};

/// A recorder that was read; its slots are not checked yet.
#[derive(Deserialize)]
pub(super) struct Unchecked {
    containers: HashMap<Arc<str>, RecordedContainer>,
    totals: BTreeMap<ContainerKind, Totals>,
    left_out: u64,
}

impl TryFrom<Unchecked> for RunRecorder {
    type Error = String;

    fn try_from(read: Unchecked) -> Result<Self, String> {
        for (id, container) in &read.containers {
            let (slot, closed) = (container.slot, container.closed);
            let totals = read.totals.get(&container.kind);
            let known = totals.map_or(0, |totals| totals.slots.len());
            let (measured_ms, free_ms) = (container.measured_ms, container.free_ms);
            if !(0..=LONGEST_MS).contains(&measured_ms) || !(0..=measured_ms).contains(&free_ms) {
                return Err(format!(
                    "container {id} is measured until {measured_ms} ms, {free_ms} ms on free \
                     nodes, 0 to {LONGEST_MS} and no more on free nodes is allowed"
                ));
            }
            if slot > slot_of(free_ms) || slot >= MAX_SLOTS || closed > slot + 1 || closed > known {
                return Err(format!(
                    "container {id} is in slot {slot} after {closed} of {known}, at most \
                     {MAX_SLOTS} are recorded"
                ));
            }
        }
        for (kind, totals) in &read.totals {
            let slots = totals.slots.len();
            if slots > MAX_SLOTS || totals.slots.iter().any(|total| total.containers == 0) {
                return Err(format!(
                    "{slots} slots of the {kind}, 1 container in each and at most {MAX_SLOTS} \
                     slots are allowed"
                ));
            }
        }
        if let Some((kind, _)) = read.totals.iter().find(|(_, totals)| totals.stages.is_bad()) {
            return Err(format!("too many ends of stages of the {kind}"));
        }
        let (kinds, most) = (read.totals.len(), MOST_EXECUTOR_KINDS + 1);
        if kinds > most {
            return Err(format!("{kinds} kinds of containers, at most {most} are recorded"));
        }
        Ok(Self { containers: read.containers, totals: read.totals, left_out: read.left_out })
    }
}
