//! The slots of a series as bytes.
//!
//! One f32 for each value: an amount of memory is kept to one part in 16 million, 4 KB of 64 GB.

use elastane_core::Resources;
use serde::{Deserialize, Serialize};

/// The first byte is the number of the variant, and so the version of the format: variants are
/// only ever added at the end.
#[derive(Serialize, Deserialize)]
enum Blob {
    /// One array for each resource, in the order of [`elastane_core::Resource::ALL`].
    Arrays([Vec<f32>; 4]),
}

/// The bytes of these slots; the error says which amount cannot be kept.
pub(crate) fn encode(slots: &[Resources]) -> Result<Vec<u8>, String> {
    let narrow = |amount: f64| amount as f32;
    let arrays = std::array::from_fn(|resource| {
        let amounts = slots.iter().map(|slot| slot.to_array()[resource]);
        amounts.map(narrow).collect()
    });
    check(slots)?;
    postcard::to_stdvec(&Blob::Arrays(arrays)).map_err(|error| error.to_string())
}

/// The slots of these bytes; the error says what is wrong with them.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Resources>, String> {
    let (Blob::Arrays(arrays), rest) = postcard::take_from_bytes(bytes)
        .map_err(|error| format!("{} bytes cannot be read: {error}", bytes.len()))?;
    if !rest.is_empty() {
        return Err(format!("{} bytes are left over", rest.len()));
    }
    let lengths = arrays.each_ref().map(Vec::len);
    if lengths.iter().any(|length| *length != lengths[0]) {
        return Err(format!(
            "the arrays have lengths {lengths:?}, all must be equal"
        ));
    }
    let slots: Vec<Resources> = (0..lengths[0])
        .map(|slot| Resources::from_array(arrays.each_ref().map(|array| f64::from(array[slot]))))
        .collect();
    check(&slots)?;
    Ok(slots)
}

fn check(slots: &[Resources]) -> Result<(), String> {
    let largest = f64::from(f32::MAX);
    for (slot, amounts) in slots.iter().enumerate() {
        let too_large = Resources::ZERO
            .max(*amounts)
            .map(|amount| if amount > largest { f64::INFINITY } else { 0.0 });
        if let Some((resource, _)) = amounts.first_invalid().or(too_large.first_invalid()) {
            return Err(format!(
                "{} in slot {slot} is {}, 0 to {largest:e} is allowed",
                resource.name(),
                amounts.get(resource)
            ));
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
    fn an_unknown_version_is_refused() {
        let mut bytes = encode(&[Resources::ZERO]).unwrap();
        bytes[0] = 7;
        assert!(decode(&bytes).is_err());
    }

    #[test]
    fn what_is_no_amount_is_named() {
        for amount in [f64::NAN, -1.0, 1e39] {
            let slots = [
                Resources::ZERO,
                Resources::from_array([0.0, 0.0, 0.0, amount]),
            ];
            let error = encode(&slots).unwrap_err();
            assert!(error.starts_with("disk in slot 1 is "), "{error}");
        }
    }
}
