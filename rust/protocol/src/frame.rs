//! Frames on the Unix socket: `length: u32 LE | version: u16 LE | body`.
//!
//! `length` counts version and body and is at most [`MAX_MESSAGE_BYTES`], which is checked before
//! memory is allocated.

use std::io::{self, Read, Write};

use serde::{Serialize, de::DeserializeOwned};

use crate::{BodyError, MAX_MESSAGE_BYTES, VERSION, decode, encode};

const VERSION_BYTES: usize = 2;

/// Why a frame could not be exchanged.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The socket failed, was closed, or did not answer in time.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The frame is refused.
    #[error(transparent)]
    Body(#[from] BodyError),
}

/// Writes one frame. Writes nothing if the body is too large.
pub fn write<T: Serialize>(to: &mut impl Write, value: &T) -> Result<(), FrameError> {
    let body = encode(value)?;
    let length = body.len() + VERSION_BYTES;
    let header = u32::try_from(length)
        .ok()
        .filter(|_| length <= MAX_MESSAGE_BYTES)
        .ok_or(BodyError::TooLarge { bytes: length })?;
    let mut frame = Vec::with_capacity(length + 4);
    frame.extend_from_slice(&header.to_le_bytes());
    frame.extend_from_slice(&VERSION.to_le_bytes());
    frame.extend_from_slice(&body);
    to.write_all(&frame)?;
    to.flush()?;
    Ok(())
}

/// Reads one frame. Refuses a length out of bounds and a body that [`decode`] refuses.
pub fn read<T: DeserializeOwned>(from: &mut impl Read) -> Result<T, FrameError> {
    let mut header = [0; 4];
    from.read_exact(&mut header)?;
    let length = u32::from_le_bytes(header) as usize;
    if length > MAX_MESSAGE_BYTES {
        return Err(BodyError::TooLarge { bytes: length }.into());
    }
    if length < VERSION_BYTES {
        let reason = "no room for the version".into();
        return Err(BodyError::Malformed { bytes: length, reason }.into());
    }
    let mut version = [0; VERSION_BYTES];
    from.read_exact(&mut version)?;
    let mut body = vec![0; length - VERSION_BYTES];
    from.read_exact(&mut body)?;
    Ok(decode(u16::from_le_bytes(version), &body)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentRequest, AgentResponse};

    #[test]
    fn a_frame_is_read_as_the_written_value() {
        let mut wire = Vec::new();
        write(&mut wire, &AgentResponse::Refused("no".into())).unwrap();
        let read: AgentResponse = read(&mut wire.as_slice()).unwrap();
        assert_eq!(read, AgentResponse::Refused("no".into()));
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused_by_its_length() {
        let wire = u32::MAX.to_le_bytes();
        let error = read::<AgentRequest>(&mut wire.as_slice()).unwrap_err();
        assert!(matches!(error, FrameError::Body(BodyError::TooLarge { .. })));
    }

    #[test]
    fn a_truncated_frame_is_an_io_error() {
        let mut wire = Vec::new();
        write(&mut wire, &AgentRequest::Collect).unwrap();
        wire.pop();
        let error = read::<AgentRequest>(&mut wire.as_slice()).unwrap_err();
        assert!(matches!(error, FrameError::Io(_)));
    }

    #[test]
    fn an_unknown_version_is_named() {
        let mut wire = Vec::new();
        write(&mut wire, &AgentRequest::Collect).unwrap();
        wire[4] = 9;
        let error = read::<AgentRequest>(&mut wire.as_slice()).unwrap_err();
        let expected = format!("protocol version 9, this side speaks {VERSION}");
        assert_eq!(error.to_string(), expected);
    }
}
