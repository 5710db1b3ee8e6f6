//! The slots of a series as bytes.
//!
//! Each value is an f32: an amount of memory is exact to one part in 16 million, 4 KB of 64 GB. The arrays
//! of the resources follow one another as byte planes: first the highest byte of every value. Values of
//! one resource have similar exponents, so neighbouring bytes are alike and compress well.

use elastane_core::{Resource, Resources};

use crate::compression::{compress, decompress};

/// The first byte of a series: the version of its format.
const FORMAT: u8 = 1;

/// 34 days of slots of 3 s. A longer series in a file is refused.
const MOST_SLOTS: usize = 1_000_000;

const VALUE_BYTES: usize = 4;
const SLOT_BYTES: usize = VALUE_BYTES * 4;

/// The error names the amount that cannot be encoded.
pub(crate) fn encode(slots: &[Resources]) -> Result<Vec<u8>, String> {
    check(slots)?;
    let values: Vec<[u8; VALUE_BYTES]> = (0..4)
        .flat_map(|resource| slots.iter().map(move |slot| slot.to_array()[resource]))
        .map(|amount| (amount as f32).to_be_bytes())
        .collect();
    let planes: Vec<u8> =
        (0..VALUE_BYTES).flat_map(|plane| values.iter().map(move |value| value[plane])).collect();
    let slots = u32::try_from(slots.len()).map_err(|error| error.to_string())?;
    postcard::to_stdvec(&(FORMAT, slots, compress(&planes)?)).map_err(|error| error.to_string())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Resources>, String> {
    let ((format, slots, planes), rest): ((u8, u32, Vec<u8>), _) = postcard::take_from_bytes(bytes)
        .map_err(|error| format!("{} bytes cannot be read: {error}", bytes.len()))?;
    if format != FORMAT || !rest.is_empty() {
        return Err(format!(
            "format {format}, {FORMAT} is read; {} bytes are left over",
            rest.len()
        ));
    }
    let slots = from_planes(slots as usize, &planes)?;
    check(&slots)?;
    Ok(slots)
}

fn from_planes(slots: usize, bytes: &[u8]) -> Result<Vec<Resources>, String> {
    if slots > MOST_SLOTS {
        return Err(format!("{slots} slots, at most {MOST_SLOTS} are read"));
    }
    let planes = decompress(bytes, slots * SLOT_BYTES)?;
    if planes.len() != slots * SLOT_BYTES {
        let length = planes.len();
        return Err(format!("{length} bytes for {slots} slots of {SLOT_BYTES}"));
    }
    let values = slots * 4;
    let value = |at: usize| {
        let bytes = std::array::from_fn(|plane| planes[plane * values + at]);
        f64::from(f32::from_be_bytes(bytes))
    };
    let slot = |slot| Resources::from_array(std::array::from_fn(|r| value(r * slots + slot)));
    Ok((0..slots).map(slot).collect())
}

fn check(slots: &[Resources]) -> Result<(), String> {
    let largest = f64::from(f32::MAX);
    for (slot, amounts) in slots.iter().enumerate() {
        for resource in Resource::ALL {
            let (name, amount) = (resource.name(), amounts.get(resource));
            // What is no number is within nothing.
            if !(0.0..=largest).contains(&amount) {
                return Err(format!(
                    "{name} in slot {slot} is {amount}, 0 to {largest:e} is allowed"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn slots_come_back_to_the_precision_of_f32(
            amounts in proptest::collection::vec(proptest::array::uniform4(0.0..1e12), 0..50),
        ) {
            let slots: Vec<Resources> = amounts.into_iter().map(Resources::from_array).collect();
            let read = decode(&encode(&slots).unwrap()).unwrap();
            prop_assert_eq!(slots.len(), read.len());
            for (written, read) in slots.iter().zip(&read) {
                for (a, b) in written.to_array().into_iter().zip(read.to_array()) {
                    prop_assert!((a - b).abs() <= a * 6e-8);
                }
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(slots) = decode(&bytes) {
                prop_assert!(slots.iter().all(|slot| slot.first_invalid().is_none()));
            }
        }
    }

    #[test]
    fn every_cut_and_every_addition_is_refused() {
        let bytes = encode(&[Resources::from_array([1.0, 2.0, 3.0, 4.0]); 3]).unwrap();
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(decode(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let slots: Vec<Resources> = (0..200)
            .map(|slot| Resources::from_array([f64::from(slot % 7) / 3.0, 1e9, 0.0, 2e6]))
            .collect();
        let bytes = encode(&slots).unwrap();
        assert!(bytes.len() < slots.len() * SLOT_BYTES / 4, "{}", bytes.len());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            // A bit that means nothing may change; what is read never does.
            if let Ok(read) = decode(&changed) {
                assert_eq!(read, decode(&bytes).unwrap(), "byte {at}");
            }
        }
    }

    #[test]
    fn an_unknown_version_is_refused() {
        let mut bytes = encode(&[Resources::ZERO]).unwrap();
        bytes[0] = 7;
        assert!(decode(&bytes).is_err());
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for amount in [f64::NAN, -1.0, 1e39] {
            let slots = [Resources::ZERO, Resources::from_array([0.0, 0.0, 0.0, amount])];
            let error = encode(&slots).unwrap_err();
            assert!(error.starts_with("disk in slot 1 is "), "{error}");
        }
    }
}
