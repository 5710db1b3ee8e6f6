//! The serialized form of a recorder.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use elastane_core::{ContainerKind, Resources, SLOT_MS};
use serde::Deserialize;

use super::{
    LONGEST_MS, MAX_SLOTS, MOST_EXECUTOR_KINDS, RecordedContainer, RunRecorder, Totals, slot_of,
};

/// Above what samples of 1e30 at most add up to, and far below what is infinite.
const MOST_SUM: f64 = 1e100;

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
            let last = container.last.unwrap_or(Resources::ZERO);
            if !is_sum(container.sum) || !is_sum(last) || !is_cover(container.covered_ms) {
                return Err(format!(
                    "container {id} used {:?} in {} ms and {:?} before, 0 to {MOST_SUM:e} in 0 or 1 to {SLOT_MS} ms \
                     is allowed",
                    container.sum, container.covered_ms, container.last
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
        let is_any_odd = |totals: &Totals| totals.slots.iter().any(|total| !is_sum(total.sum));
        if let Some((kind, _)) = read.totals.iter().find(|(_, totals)| is_any_odd(totals)) {
            return Err(format!("a slot of the {kind} is not from 0 to {MOST_SUM:e}"));
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

fn is_sum(amounts: Resources) -> bool {
    amounts.to_array().iter().all(|amount| (0.0..=MOST_SUM).contains(amount))
}

/// Samples cover whole milliseconds.
fn is_cover(covered_ms: f64) -> bool {
    covered_ms == 0.0 || (1.0..=f64::from(SLOT_MS)).contains(&covered_ms)
}
