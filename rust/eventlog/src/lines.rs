//! The lines of a log, each of a bounded length.

use std::io::{self, BufRead, Read};

/// Spark writes SQL plans into one line; one longer than this is no event that is wanted here.
const MOST_BYTES: u64 = 1 << 26;

/// Reads line by line into one buffer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

/// One line without its end.
pub(crate) struct Line<'l> {
    /// From 1.
    pub(crate) number: u64,
    pub(crate) text: &'l [u8],
    /// Whether its end was written.
    pub(crate) is_whole: bool,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            number: 0,
        }
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let mut limited = Read::take(&mut self.reader, MOST_BYTES);
        if limited.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.buffer.len() as u64 == MOST_BYTES {
            let problem = format!("line {} is longer than {MOST_BYTES} bytes", self.number);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(Some(Line {
            number: self.number,
            is_whole: self.buffer.ends_with(b"\n"),
            text: self.buffer.trim_ascii_end(),
        }))
    }
}
