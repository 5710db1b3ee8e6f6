//! The layout of an hsperfdata file: a header, then entries with a name and a value.

use super::PerfDataError;

pub const HEADER_BYTES: usize = 32;
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
const ENTRY_HEADER_BYTES: usize = 20;
/// The type letter of a 64-bit number.
const LONG: u8 = b'J';

/// Where the counters of a file begin, and how many there are. The JVM only appends, so no counter
/// has moved while the header is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    is_big_endian: bool,
    first_entry: usize,
    entry_count: usize,
}

#[derive(Debug)]
pub struct PerfEntry<'a> {
    pub name: &'a [u8],
    /// Up to the first zero; empty for a number.
    pub text: &'a [u8],
    /// Offset of a number in the file.
    pub number_at: Option<usize>,
}

impl Header {
    pub fn read(bytes: &[u8]) -> Result<Self, PerfDataError> {
        let header: &[u8; HEADER_BYTES] =
            bytes.first_chunk().ok_or(PerfDataError::Short { found: bytes.len() })?;
        if header[..4] != MAGIC {
            return Err(PerfDataError::Magic);
        }
        let is_big_endian = match header[4] {
            0 => true,
            1 => false,
            order => return Err(PerfDataError::ByteOrder { order }),
        };
        if header[5] != 2 {
            return Err(PerfDataError::Version { major: header[5] });
        }
        let is_accessible = header[7] == 1;
        if !is_accessible {
            return Err(PerfDataError::NotReady);
        }
        let length = |at| {
            let value = length(bytes, at, is_big_endian);
            value.ok_or(PerfDataError::Entry { at })
        };
        Ok(Self { is_big_endian, first_entry: length(24)?, entry_count: length(28)? })
    }

    /// Reads a number; `None` outside of `bytes`.
    pub fn number(self, bytes: &[u8], at: usize) -> Option<i64> {
        let field = *bytes.get(at..)?.first_chunk()?;
        Some(if self.is_big_endian { i64::from_be_bytes(field) } else { i64::from_le_bytes(field) })
    }

    /// The entries of a file with this header; ends after the first malformed one.
    pub fn entries(
        self,
        bytes: &[u8],
    ) -> impl Iterator<Item = Result<PerfEntry<'_>, PerfDataError>> {
        let mut next = Some(self.first_entry);
        (0..self.entry_count).map_while(move |_| {
            let at = next.take()?;
            let read = self.entry(bytes, at);
            next = read.as_ref().map(|(_, length)| at + length);
            Some(read.map(|(entry, _)| entry).ok_or(PerfDataError::Entry { at }))
        })
    }

    /// The entry that begins at `start`, and its length.
    fn entry(self, bytes: &[u8], start: usize) -> Option<(PerfEntry<'_>, usize)> {
        let length = length(bytes, start, self.is_big_endian)?;
        let entry = bytes.get(start..start.checked_add(length)?)?;
        let kind = *entry.get(12)?;
        // An entry shorter than its header could stop the walk from advancing.
        if length < ENTRY_HEADER_BYTES {
            return None;
        }
        let field = |at| self::length(entry, at, self.is_big_endian);
        let name = until_zero(entry.get(field(4)?..)?)?;
        let vector_length = field(8)?;
        let data_at = field(16)?;
        let data = entry.get(data_at..)?;
        let (text, number_at) = if vector_length == 0 {
            let is_number = kind == LONG && data.len() >= size_of::<i64>();
            (&[][..], is_number.then_some(start + data_at))
        } else {
            let text = data.get(..vector_length)?;
            (until_zero(text).unwrap_or(text), None)
        };
        Some((PerfEntry { name, text, number_at }, length))
    }
}

/// Reads a 32-bit number of at least 0.
fn length(bytes: &[u8], at: usize, is_big_endian: bool) -> Option<usize> {
    let field = *bytes.get(at..)?.first_chunk()?;
    let value = if is_big_endian { i32::from_be_bytes(field) } else { i32::from_le_bytes(field) };
    usize::try_from(value).ok()
}

fn until_zero(bytes: &[u8]) -> Option<&[u8]> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    bytes.get(..end)
}
