//! The ends of a run's stages as bytes: the times between them, which are small numbers.

use elastane_runs::MOST_STAGES;

/// The first number: the version of the format.
const FORMAT: u8 = 1;

pub(crate) fn encode(ends_ms: &[u32]) -> Result<Vec<u8>, String> {
    let stages = ends_ms.len();
    if stages > MOST_STAGES {
        return Err(format!("{stages} stages, at most {MOST_STAGES} are kept"));
    }
    let mut before_ms = 0;
    let mut between_ms = Vec::with_capacity(ends_ms.len());
    for (stage, &end_ms) in ends_ms.iter().enumerate() {
        let since_ms = end_ms.checked_sub(before_ms);
        let falls =
            || format!("stage {stage} ends at {end_ms} ms, {before_ms} and more is allowed");
        between_ms.push(since_ms.ok_or_else(falls)?);
        before_ms = end_ms;
    }
    postcard::to_stdvec(&(FORMAT, between_ms)).map_err(|error| error.to_string())
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<u32>, String> {
    let ((format, between_ms), rest): ((u8, Vec<u32>), _) = postcard::take_from_bytes(bytes)
        .map_err(|error| format!("{} bytes of ends of stages: {error}", bytes.len()))?;
    let (stages, left) = (between_ms.len(), rest.len());
    if format != FORMAT || left > 0 || stages > MOST_STAGES {
        return Err(format!(
            "ends of {stages} stages in format {format} and {left} bytes more; at most {MOST_STAGES} in format {FORMAT} are \
             read"
        ));
    }
    let mut end_ms = 0_u32;
    let ends = between_ms.into_iter().map(|since_ms| {
        end_ms = end_ms.checked_add(since_ms)?;
        Some(end_ms)
    });
    ends.collect::<Option<Vec<u32>>>().ok_or_else(|| "stages that end after 49 days".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_come_back(mut ends_ms in proptest::collection::vec(any::<u32>(), 0..50)) {
            ends_ms.sort_unstable();
            prop_assert_eq!(decode(&encode(&ends_ms).unwrap()).unwrap(), ends_ms);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(ends_ms) = decode(&bytes) {
                prop_assert!(ends_ms.is_sorted());
            }
        }
    }

    #[test]
    fn ends_that_fall_are_named() {
        let error = encode(&[5, 3]).unwrap_err();
        assert_eq!(error, "stage 1 ends at 3 ms, 5 and more is allowed");
    }

    #[test]
    fn what_would_not_be_read_is_not_written() {
        assert!(encode(&vec![1; MOST_STAGES]).is_ok());
        let error = encode(&vec![1; MOST_STAGES + 1]).unwrap_err();
        assert_eq!(error, "1001 stages, at most 1000 are kept");
    }

    #[test]
    fn another_format_and_bytes_left_over_are_refused() {
        let bytes = encode(&[1, 2]).unwrap();
        assert!(decode(&[bytes.as_slice(), &[0]].concat()).is_err());
        assert!(decode(&[&[9], &bytes[1..]].concat()).is_err());
    }
}
