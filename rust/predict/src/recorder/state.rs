//! A recorder as it is written and read.

use std::collections::HashMap;

use serde::Deserialize;

use super::{Container, MAX_SLOTS, RunRecorder, Totals};
use crate::run::ContainerKind;

/// What was read: its slots may lie anywhere.
#[derive(Deserialize)]
pub(super) struct Unchecked {
    containers: HashMap<String, Container>,
    totals: [Totals; ContainerKind::ALL.len()],
    left_out: u64,
}

impl TryFrom<Unchecked> for RunRecorder {
    type Error = String;

    fn try_from(read: Unchecked) -> Result<Self, String> {
        for (id, container) in &read.containers {
            let (slot, closed) = (container.slot, container.closed);
            let known = read.totals[container.kind as usize].slots.len();
            if slot >= MAX_SLOTS || closed > slot + 1 || closed > known {
                return Err(format!(
                    "container {id} is in slot {slot} after {closed} of {known}, at most \
                     {MAX_SLOTS} are recorded"
                ));
            }
        }
        for (totals, kind) in read.totals.iter().zip(ContainerKind::ALL) {
            let slots = totals.slots.len();
            if slots > MAX_SLOTS || totals.slots.iter().any(|total| total.containers == 0) {
                return Err(format!(
                    "{slots} slots of the {kind}, 1 container in each and at most {MAX_SLOTS} \
                     slots are allowed",
                    kind = kind.name()
                ));
            }
        }
        Ok(Self {
            containers: read.containers,
            totals: read.totals,
            left_out: read.left_out,
        })
    }
}

pub(super) mod amounts {
    use elastane_core::Resources;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(amounts: &Resources, to: S) -> Result<S::Ok, S::Error> {
        amounts.to_array().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Resources, D::Error> {
        <[f64; 4]>::deserialize(from).map(Resources::from_array)
    }
}

pub(super) mod maybe_amounts {
    use elastane_core::Resources;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(amounts: &Option<Resources>, to: S) -> Result<S::Ok, S::Error> {
        amounts.map(Resources::to_array).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Resources>, D::Error> {
        Ok(Option::<[f64; 4]>::deserialize(from)?.map(Resources::from_array))
    }
}

/// A kind by its place in [`ContainerKind::ALL`].
pub(super) mod kind {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::run::ContainerKind;

    pub fn serialize<S: Serializer>(kind: &ContainerKind, to: S) -> Result<S::Ok, S::Error> {
        (*kind as u32).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ContainerKind, D::Error> {
        let number = u32::deserialize(from)?;
        let known = ContainerKind::ALL.get(number as usize).copied();
        known.ok_or_else(|| D::Error::custom(format!("container kind {number} is not known")))
    }
}
