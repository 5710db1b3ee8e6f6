//! zstd with a checksum: SQLite has none for the content of its pages.

use std::io;

use zstd::bulk::{Compressor, decompress as expand};
use zstd::zstd_safe::CParameter;

/// zstd's default: higher levels take more time and gain almost nothing on short series.
const LEVEL: i32 = 3;

pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let compressed = || -> io::Result<Vec<u8>> {
        let mut compressor = Compressor::new(LEVEL)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true))?;
        compressor.compress(bytes)
    };
    compressed().map_err(|error| format!("cannot be compressed: {error}"))
}

/// Content of more than `most` bytes is an error.
pub(crate) fn decompress(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    expand(bytes, most).map_err(|error| format!("{} compressed bytes: {error}", bytes.len()))
}
