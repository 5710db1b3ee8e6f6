//! The serialized form of a recorder.

use std::collections::{BTreeMap, HashMap};

use elastane_core::ContainerKind;
use serde::Deserialize;

use super::{Container, MAX_SLOTS, MOST_EXECUTOR_KINDS, RunRecorder, Totals};

/// A recorder that was read; its slots are not checked yet.
#[derive(Deserialize)]
pub(super) struct Unchecked {
    containers: HashMap<String, Container>,
    #[serde(with = "by_kind")]
    totals: BTreeMap<ContainerKind, Totals>,
    left_out: u64,
}

/// The first version of the format, in which all executors were of one kind.
#[derive(Debug, Deserialize)]
#[serde(try_from = "UncheckedOfTwoKinds")]
pub struct RecorderOfTwoKinds(pub RunRecorder);

/// The totals of application masters and of executors.
#[derive(Deserialize)]
struct UncheckedOfTwoKinds {
    containers: HashMap<String, Container>,
    totals: [Totals; 2],
    left_out: u64,
}

impl TryFrom<UncheckedOfTwoKinds> for RecorderOfTwoKinds {
    type Error = String;

    fn try_from(read: UncheckedOfTwoKinds) -> Result<Self, String> {
        let kinds = [ContainerKind::ApplicationMaster, ContainerKind::DEFAULT_EXECUTOR];
        let totals = kinds.into_iter().zip(read.totals);
        let read = Unchecked {
            containers: read.containers,
            totals: totals.filter(|(_, it)| it.containers > 0).collect(),
            left_out: read.left_out,
        };
        RunRecorder::try_from(read).map(RecorderOfTwoKinds)
    }
}

impl TryFrom<Unchecked> for RunRecorder {
    type Error = String;

    fn try_from(read: Unchecked) -> Result<Self, String> {
        for (id, container) in &read.containers {
            let (slot, closed) = (container.slot, container.closed);
            let totals = read.totals.get(&container.kind);
            let known = totals.map_or(0, |totals| totals.slots.len());
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

/// A kind by its number.
pub(super) mod kind {
    use elastane_core::ContainerKind;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(kind: &ContainerKind, to: S) -> Result<S::Ok, S::Error> {
        kind.number().cast_unsigned().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ContainerKind, D::Error> {
        let number = u64::deserialize(from)?;
        let known = ContainerKind::numbered(number.cast_signed());
        known.ok_or_else(|| D::Error::custom(format!("container kind {number} is not known")))
    }
}

pub(super) mod by_kind {
    use std::collections::BTreeMap;

    use elastane_core::ContainerKind;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::recorder::Totals;

    #[derive(Serialize, Deserialize)]
    struct OfKind<T> {
        #[serde(with = "super::kind")]
        kind: ContainerKind,
        totals: T,
    }

    pub fn serialize<S: Serializer>(
        totals: &BTreeMap<ContainerKind, Totals>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let of_kind = |(kind, totals): (&ContainerKind, _)| OfKind { kind: *kind, totals };
        to.collect_seq(totals.iter().map(of_kind))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<ContainerKind, Totals>, D::Error> {
        let read = Vec::<OfKind<Totals>>::deserialize(from)?;
        Ok(read.into_iter().map(|it| (it.kind, it.totals)).collect())
    }
}
