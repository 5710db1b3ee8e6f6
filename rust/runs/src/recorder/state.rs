//! The serialized form of a recorder.

use std::collections::{BTreeMap, HashMap};

use elastane_core::ContainerKind;
use serde::Deserialize;

use super::{MAX_SLOTS, MOST_EXECUTOR_KINDS, RecordedContainer, RunRecorder, Totals};

/// A recorder that was read; its slots are not checked yet.
#[derive(Deserialize)]
pub(super) struct Unchecked {
    containers: HashMap<String, RecordedContainer>,
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
            if container.lost_ms < 0 {
                return Err(format!("container {id} lost {} ms, at least 0", container.lost_ms));
            }
            if slot >= MAX_SLOTS || closed > slot + 1 || closed > known {
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
        let (kinds, most) = (read.totals.len(), MOST_EXECUTOR_KINDS + 1);
        if kinds > most {
            return Err(format!("{kinds} kinds of containers, at most {most} are recorded"));
        }
        Ok(Self { containers: read.containers, totals: read.totals, left_out: read.left_out })
    }
}
