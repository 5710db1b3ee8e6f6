//! Compressed demands, for keeping many in memory.

use std::fmt::Display;

use elastane_core::{Demand, Resources};

use crate::blob;

/// A compressed demand. Its amounts are f32, rounded up.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedDemand {
    slot_ms: u32,
    slots: Box<[u8]>,
}

/// Why a demand cannot be packed or unpacked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PackError(String);

impl PackError {
    fn unpacking(error: impl Display) -> Self {
        Self(format!("unpacking a demand: {error}"))
    }
}

impl PackedDemand {
    /// Packs a demand that has an end.
    ///
    /// # Errors
    /// An amount that no f32 holds.
    pub fn pack(demand: &Demand) -> Result<Self, PackError> {
        let rounded = |slot: &Resources| slot.map(rounded_up);
        let slots: Vec<Resources> = demand.slots().iter().map(rounded).collect();
        let slots = blob::encode(&slots)
            .map_err(|error| PackError(format!("packing a demand: {error}")))?;
        Ok(Self { slot_ms: demand.slot_ms(), slots: slots.into() })
    }

    /// The demand: each amount is the least f32 that is not below the packed one.
    ///
    /// # Errors
    /// Bytes that changed in memory.
    pub fn unpack(&self) -> Result<Demand, PackError> {
        let slots = blob::decode(&self.slots).map_err(PackError::unpacking)?;
        Demand::series(self.slot_ms, &slots).map_err(PackError::unpacking)
    }
}

/// A smaller excess over an f32, as a fraction, is the rounding error of a sum and is cut off:
/// executors of whole cores that fill a node still fill it.
const NOISE: f64 = 1e-12;

/// The least f32 that is not below the amount, but for [`NOISE`].
fn rounded_up(amount: f64) -> f64 {
    let nearest = amount as f32;
    let is_below = f64::from(nearest) < amount * (1.0 - NOISE);
    f64::from(if is_below { nearest.next_up() } else { nearest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(slots: &[Resources]) -> Demand {
        Demand::series(3_000, slots).unwrap()
    }

    #[test]
    fn a_packed_demand_takes_a_fraction_of_its_room() {
        let slots: Vec<Resources> = (0..600)
            .map(|slot| {
                let third = f64::from(slot % 7) / 3.0;
                Resources::from_array([third, 1e9 + f64::from(slot / 30), 0.0, 2e6 * third])
            })
            .collect();
        let packed = PackedDemand::pack(&series(&slots)).unwrap();
        let bytes = packed.slots.len();
        assert!(bytes < size_of_val(&slots[..]) / 8, "{bytes} bytes");
        let unpacked = packed.unpack().unwrap();
        assert_eq!((unpacked.slot_ms(), unpacked.slots().len()), (3_000, 600));
    }

    proptest! {
        #[test]
        fn nothing_comes_back_below_what_was_packed_and_little_above(
            amounts in proptest::collection::vec(proptest::array::uniform4(0.0..1e12), 1..50),
        ) {
            let slots: Vec<Resources> = amounts.into_iter().map(Resources::from_array).collect();
            let unpacked = PackedDemand::pack(&series(&slots)).unwrap().unpack().unwrap();
            for (packed, unpacked) in slots.iter().zip(unpacked.slots()) {
                for (was, is) in packed.to_array().into_iter().zip(unpacked.to_array()) {
                    prop_assert!(is >= was * (1.0 - NOISE), "{was} became {is}");
                    prop_assert!(is <= was * (1.0 + 1.2e-7), "{was} became {is}");
                }
            }
            // What was unpacked packs and unpacks as it is.
            prop_assert_eq!(&PackedDemand::pack(&unpacked).unwrap().unpack().unwrap(), &unpacked);
        }
    }

    #[test]
    fn an_amount_is_rounded_up_and_the_noise_of_a_sum_is_not() {
        assert_eq!(rounded_up(1.0), 1.0);
        assert_eq!(rounded_up(1.0 + 4.0 * f64::EPSILON), 1.0);
        assert_eq!(rounded_up(1.0 - 4.0 * f64::EPSILON), 1.0);
        assert_eq!(rounded_up(1.0 + 1e-9), 1.0 + f64::from(f32::EPSILON));
        assert_eq!(rounded_up(0.0), 0.0);
        assert!(rounded_up(1e-60) >= 1e-60, "next to nothing is not nothing");
    }

    #[test]
    fn what_no_f32_holds_is_refused() {
        let slots = [Resources::from_array([1e39, 0.0, 0.0, 0.0])];
        let error = PackedDemand::pack(&series(&slots)).unwrap_err().to_string();
        assert!(error.starts_with("packing a demand: cpu in slot 0"), "{error}");
    }
}
