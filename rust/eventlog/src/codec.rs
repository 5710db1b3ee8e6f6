//! Decompression of event logs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::error::LogError;
use crate::lz4_block::{self, Lz4BlockReader};

const BUFFER_BYTES: usize = 1 << 17;

/// The magic numbers of Spark's unsupported codecs.
const NOT_READ: [(&[u8], &str); 3] =
    [(b"\x82SNAPPY\0", "snappy"), (b"ZV", "lzf"), (b"\x04\x22\x4d\x18", "the lz4 frame format")];
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// The text of a file. The first bytes give the codec, not the name: logs are renamed.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, LogError> {
    let failed = |error: io::Error| LogError::new(path, error);
    let file = File::open(path).map_err(failed)?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
    let beginning = reader.fill_buf().map_err(failed)?;
    let mut not_read = NOT_READ.iter();
    if let Some((_, codec)) = not_read.find(|(magic, _)| beginning.starts_with(magic)) {
        let problem =
            format!("compressed with {codec}, which is not read; plain, zstd and lz4 are");
        return Err(LogError::new(path, problem));
    }
    if beginning.starts_with(ZSTD) {
        return Ok(buffered(zstd::Decoder::with_buffer(reader).map_err(failed)?));
    }
    if beginning.starts_with(lz4_block::MAGIC) {
        return Ok(buffered(Lz4BlockReader::new(reader)));
    }
    Ok(Box::new(reader))
}

fn buffered(reader: impl Read + 'static) -> Box<dyn BufRead> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, reader))
}
