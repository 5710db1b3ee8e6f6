//! Bodies: postcard, bounded in size, without trailing bytes.

use serde::{Serialize, de::DeserializeOwned};

use crate::MAX_MESSAGE_BYTES;

/// Why a body was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// The other side speaks another version.
    #[error("protocol version {got}, this side speaks {}", crate::VERSION)]
    Version {
        /// The other side's version.
        got: u16,
    },
    /// Larger than [`MAX_MESSAGE_BYTES`].
    #[error("message of {bytes} bytes, at most {MAX_MESSAGE_BYTES} are allowed")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Truncated or damaged.
    #[error("message of {bytes} bytes cannot be read: {reason}")]
    Malformed {
        /// Its size.
        bytes: usize,
        /// The format's error.
        reason: String,
    },
}

/// Encodes a value as a body of at most [`MAX_MESSAGE_BYTES`].
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, BodyError> {
    let body = postcard::to_stdvec(value)
        .map_err(|error| BodyError::Malformed { bytes: 0, reason: error.to_string() })?;
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(BodyError::TooLarge { bytes: body.len() });
    }
    Ok(body)
}

/// Decodes a body that the other side encoded with `version`. Refuses another version, and a body that
/// is too large, truncated, damaged, or followed by more bytes.
pub fn decode<T: DeserializeOwned>(version: u16, body: &[u8]) -> Result<T, BodyError> {
    if version != crate::VERSION {
        return Err(BodyError::Version { got: version });
    }
    read(body)
}

/// Decodes a body whose version is known to be that of `T`.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, BodyError> {
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(BodyError::TooLarge { bytes: body.len() });
    }
    let malformed = |reason: String| BodyError::Malformed { bytes: body.len(), reason };
    let (value, rest) =
        postcard::take_from_bytes(body).map_err(|error| malformed(error.to_string()))?;
    if !rest.is_empty() {
        return Err(malformed(format!("{} bytes are left over", rest.len())));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reply, VERSION};

    fn reply() -> Reply {
        Reply {
            acknowledged: 7,
            valid_for_ms: 120_000,
            plans: Vec::new(),
            decommission: vec!["container_1".into()],
        }
    }

    #[test]
    fn a_body_is_decoded_to_the_encoded_value() {
        let body = encode(&reply()).unwrap();
        assert_eq!(decode::<Reply>(VERSION, &body).unwrap(), reply());
    }

    #[test]
    fn another_version_is_refused_before_the_body_is_read() {
        assert_eq!(decode::<Reply>(VERSION + 1, &[]), Err(BodyError::Version { got: VERSION + 1 }));
    }

    #[test]
    fn every_truncated_body_is_refused() {
        let body = encode(&reply()).unwrap();
        for length in 0..body.len() {
            assert!(matches!(
                decode::<Reply>(VERSION, &body[..length]),
                Err(BodyError::Malformed { .. })
            ));
        }
    }

    #[test]
    fn trailing_bytes_are_refused() {
        let mut body = encode(&reply()).unwrap();
        body.push(0);
        assert!(matches!(decode::<Reply>(VERSION, &body), Err(BodyError::Malformed { .. })));
    }

    #[test]
    fn a_body_that_is_too_large_is_refused() {
        assert_eq!(
            decode::<Reply>(VERSION, &vec![0; MAX_MESSAGE_BYTES + 1]),
            Err(BodyError::TooLarge { bytes: MAX_MESSAGE_BYTES + 1 })
        );
    }
}
