//! Bytes made smaller, with a checksum: SQLite has none for what is inside its pages.

use std::io;

use zstd::bulk::{Compressor, decompress as expand};
use zstd::zstd_safe::CParameter;

/// zstd's own default: higher levels take more time and gain next to nothing on short series.
const LEVEL: i32 = 3;

pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let compressed = || -> io::Result<Vec<u8>> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        compressor.compress(bytes)
    };
    compressed().map_err(|error| format!("cannot be compressed: {error}"))
}

/// At most `most` bytes are made; the error says what is wrong.
pub(crate) fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    expand(bytes, most).map_err(|error| format!("{} compressed bytes: {error}", bytes.len()))
}
